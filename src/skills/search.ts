import { and, desc, eq, inArray, lt, type SQL, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { OrgId } from '../kernel/ids'
import { foundBy, inParts } from '../kernel/keyset'
import type { Mark } from '../kernel/page'
import type { Reader } from '../kernel/store'
import type { SkillCategory } from './manifest'
import type { SkillSort } from './schema'
import { hitsOnSqlite } from './search-hits'
import { pageOnPostgres } from './search-postgres'
import { mayGoOn, seqOf } from './search-words'
import { isOfOrg, type ListedRow, listedColumns, skills } from './table'

export { searchable, wordsOf } from './search-words'

export type SkillFilter = {
  category?: SkillCategory | undefined
  /** Words that must all occur; the last one may be a prefix. Null: no search, empty: nothing matches. */
  words: readonly string[] | null
  sort: SkillSort
}

type Among = { listed: true } | { orgIds: readonly OrgId[] } | { owner: OwnerScope }

/** Skills of one set, sorted, at most `limit` after a mark. Equal ranks are sorted newest first. */
export async function searchSkills(
  db: Reader,
  among: Among,
  filter: SkillFilter,
  before: Mark | null,
  limit: number,
): Promise<ListedRow[]> {
  const { category, words, sort } = filter
  if (words?.length === 0) return []
  const table = db.of(skills)
  const rank = sort === 'installs' ? table.install_count : sort === 'rating' ? table.rating : null
  const order = rank ? [desc(rank), desc(table.seq)] : [desc(table.seq)]
  const found = db.select(listedColumns(table)).from(table)
  if (words && 'listed' in among) {
    if (db.dialect === 'postgres') return pageOnPostgres(db, { words, category, sort, before, limit })
    const seqs = await hitsOnSqlite(db, { words, category, sort, before, limit })
    if (!seqs.length) return []
    return found.where(inArray(table.seq, seqs)).orderBy(...order)
  }
  const narrowed = and(
    category ? eq(table.category, category) : undefined,
    words ? occurring(table, words) : undefined,
    after(table, rank, before),
  )
  const parts = reach(table, among).map((part) => and(part, narrowed))
  const firstOf = (part: SQL | undefined) => {
    const seqs = db.select({ seq: table.seq }).from(table).where(part)
    return seqs.orderBy(...order).limit(limit)
  }
  const wanted = parts.length === 1 ? parts[0] : foundBy(table.seq, parts.map(firstOf))
  const rows = found.where(wanted).orderBy(...order)
  return rows.limit(limit)
}

/** Alternative conditions, one of which must hold; each is looked up in an index separately. */
function reach(table: typeof skills.sqlite, among: Among): (SQL | undefined)[] {
  if ('listed' in among) return [eq(table.listed, true)]
  if ('owner' in among) return [eq(table.owner, among.owner)]
  return inParts(among.orgIds).map((some) =>
    and(inArray(table.org_scope_id, some), eq(table.status, 'approved'), isOfOrg(table)),
  )
}

/** For the few skills of one owner or org, which are compared one by one without an index. */
function occurring(table: typeof skills.sqlite, words: readonly string[]): SQL {
  const padded = sql`' ' || ${table.search_text} || ' '`
  const isOpen = (index: number) => index === words.length - 1 && mayGoOn(words[index]!)
  const patterns = words.map((word, index) => `% ${word}${isOpen(index) ? '' : ' '}%`)
  return and(...patterns.map((pattern) => sql`${padded} like ${pattern}`))!
}

type Rank = typeof skills.sqlite.install_count | typeof skills.sqlite.rating

function after(table: typeof skills.sqlite, rank: Rank | null, before: Mark | null): SQL | undefined {
  if (!before) return undefined
  const seq = seqOf(before)
  return rank ? sql`(${rank}, ${table.seq}) < (${before.at}, ${seq})` : lt(table.seq, seq)
}

/** The position of a skill in a sort order, as a cursor mark. */
export const markOf = (sort: SkillSort) => (row: ListedRow) => ({
  at: sort === 'installs' ? row.install_count : sort === 'rating' ? row.rating : row.seq,
  id: String(row.seq),
})
