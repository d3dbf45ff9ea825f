import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Static, TSchema } from '../kernel/schema'
import type { Table } from '../kernel/store'
import { createRows, type Order, type OwnedRow, type OwnedTable } from './rows'

/** What is known of one besides its row. */
export type Facts = { boundKeys: number }

/** What a resource is, said once. `defineResource` checks the parts against each other. */
export type AnyNoun = {
  /** Its word in answers and in the record: `guardrail_policy`. */
  name: string
  /** Its word in sentences. */
  title: { one: string; many: string }
  /** `/guardrail-policies`, on both APIs. */
  path: string
  /** The list's member: `guardrail_policies`. */
  plural: string
  table: Table<OwnedTable>
  id: { create(): string; is(word: string): boolean }
  /** The bodies of POST and PATCH, one of it, and the query and the answer of a list. */
  words: {
    New: TSchema
    Patch: TSchema
    View: TSchema
    Query: TSchema
    Page: TSchema
    /** The answers of POST and PATCH where they say more than the one they are about; see the hook `answer`. */
    Made?: TSchema
    Changed?: TSchema
  }
  /** What each route does, as the document says it. */
  summaries: { create: string; list: string; get: string; update: string; remove: string }
  /**
   * Whose a new one is: `either` as its order's `scope` says, a person's or the active organization's; `team` the active
   * organization's, and a person's who has none; `account` the organization's whose key made it, else the person's.
   */
  owned: 'either' | 'team' | 'account'
  /**
   * With `either`: whether a person sees what is their active organization's, or what is each of theirs. With `account`:
   * that a person in a session sees their active organization's besides their own.
   */
  reach?: 'active org' | 'every org'
  /** What its list is ordered by, if not by when each was created. */
  listed?: Order
  /** What a member needs in the organization to make and change what is the team's. */
  permission: 'manageWebhooks' | 'manageSkills' | 'manageConnectors' | 'manageApiKeys'
  /** The member that holds one of it in an answer: `canvas` for `{"canvas":{…}}`. Flat when left out. */
  wrap?: string
  /** Reading a team's needs the permission too. */
  guarded?: boolean
  /** The members that hold what its owner wrote, which operators see as `support`; all of it when left out. */
  holds?: 'facts' | readonly string[]
  /** What creating one is refused with besides the usual, such as 404 where it names a key. */
  createErrors?: readonly 404[]
  /** The setting of how many one owner may have. */
  most: { env: string }
  /**
   * The column of keys that holds its id. With `contains`, a key it is bound to may not change it: a leaked key could
   * otherwise free itself of what contains it.
   */
  boundTo?: { column: string; contains: boolean }
  /** The columns of a new one that its order leaves out. */
  empty: object
  /** One of it as the API shows it; `boundKeys` is how many keys hold it. */
  present(row: never, facts: Facts): object
}

export type RowOf<N extends AnyNoun> =
  N['table'] extends Table<infer T extends SQLiteTable> ? T['$inferSelect'] & OwnedRow : never
export type NewOf<N extends AnyNoun> = Static<N['words']['New']>
export type PatchOf<N extends AnyNoun> = Static<N['words']['Patch']>
export type ViewOf<N extends AnyNoun> = Static<N['words']['View']>
/** The answer with one of it. */
export type ReplyOf<N extends AnyNoun> = N extends { wrap: infer Member extends string }
  ? { [M in Member]: ViewOf<N> }
  : ViewOf<N>
type Said<N extends AnyNoun, Word extends 'Made' | 'Changed'> =
  N['words'] extends Record<Word, infer S extends TSchema> ? Static<S> : ReplyOf<N>
/** The answers of POST and PATCH. */
export type MadeOf<N extends AnyNoun> = Said<N, 'Made'>
export type ChangedOf<N extends AnyNoun> = Said<N, 'Changed'>
/** The columns that are its own. */
export type OwnOf<N extends AnyNoun> = Omit<RowOf<N>, Exclude<keyof OwnedRow, 'name' | 'is_default'>>

type Fits<N extends AnyNoun> = {
  empty: Partial<OwnOf<N>>
  present(row: RowOf<N>, facts: Facts): ViewOf<N>
}

/** Declares a resource, and makes the queries of its rows. The parameters of `present` need their types. */
export const defineResource = <const N extends AnyNoun>(noun: N & Fits<N>) => ({
  ...(noun as N),
  rows: createRows<RowOf<N>>(noun.table, (noun as AnyNoun).listed),
})
