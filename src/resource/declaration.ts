import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Static, TSchema } from '../kernel/schema'
import type { Table } from '../kernel/store'
import { createRows, type OwnedRow, type OwnedTable } from './rows'

/** What a resource is, said once. `defineResource` checks the parts against each other. */
export type AnyNoun = {
  /** Its word in answers and in the record: `guardrail_policy`. */
  name: string
  /** Its word in sentences. */
  title: { one: string; many: string }
  /** `/guardrail-policies`, on both planes. */
  path: string
  /** The list's member: `guardrail_policies`. */
  plural: string
  table: Table<OwnedTable>
  id: { create(): string; is(word: string): boolean }
  /** The bodies of POST and PATCH, the answer, and the query and the answer of a list. */
  words: { New: TSchema; Patch: TSchema; View: TSchema; Query: TSchema; Page: TSchema }
  /** What each route does, as the document says it. */
  summaries: { create: string; list: string; get: string; update: string; remove: string }
  /** What a member needs in the organization to make and change what is the team's. */
  permission: 'manageWebhooks'
  /** Whether a person sees what belongs to their active organization, or to each of theirs. */
  reach: 'active org' | 'every org'
  /** The setting of how many one owner may have. */
  most: { env: string }
  /**
   * The column of keys that holds its id. With `contains`, a key it is bound to may not change it: a leaked key could
   * otherwise free itself of what contains it.
   */
  boundTo?: { column: string; contains: boolean }
  /** The columns of a new one that its order leaves out. */
  empty: object
  /** The members of the answer that are its own; the kit adds {@link Given}. */
  present(row: never): object
}

/** The members of an answer that are the same for each resource. */
export type Given = 'id' | 'object' | 'scope' | 'org_id' | 'is_default' | 'bound_key_count' | 'created' | 'updated'

export type RowOf<N extends AnyNoun> =
  N['table'] extends Table<infer T extends SQLiteTable> ? T['$inferSelect'] & OwnedRow : never
export type NewOf<N extends AnyNoun> = Static<N['words']['New']>
export type PatchOf<N extends AnyNoun> = Static<N['words']['Patch']>
export type ViewOf<N extends AnyNoun> = Static<N['words']['View']>
/** The columns that are its own. */
export type OwnOf<N extends AnyNoun> = Omit<RowOf<N>, Exclude<keyof OwnedRow, 'name' | 'is_default'>>

type Fits<N extends AnyNoun> = {
  empty: Partial<OwnOf<N>>
  present(row: RowOf<N>): Omit<ViewOf<N>, Given>
}

/** Declares a resource, and makes the queries of its rows. */
export const defineResource = <const N extends AnyNoun>(noun: N & Fits<N>) => ({
  ...(noun as N),
  rows: createRows<RowOf<N>>(noun.table),
})
