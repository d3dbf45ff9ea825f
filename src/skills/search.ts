import { and, desc, eq, inArray, lt, or, type SQL, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { OrgId } from '../kernel/ids'
import type { Mark } from '../kernel/page'
import type { Reader } from '../kernel/store'
import type { SkillCategory } from './manifest'
import type { SkillId, SkillSort } from './schema'
import { type SkillRow, skills } from './table'

export type SkillFilter = {
  category?: SkillCategory | undefined
  /** Words that all must occur, the last one perhaps only begun; null asks for none. */
  words: readonly string[] | null
  sort: SkillSort
}

type Among = { listed: true } | { orgIds: readonly OrgId[] } | { owner: OwnerScope }

/**
 * So few hits are gathered and then sorted. With more of them, one row in fifty or so is a hit even in a store
 * of 100,000: the sorted list is walked, and soon a page is full.
 */
const FEW_HITS = 2_000

/** Text as it is searched: compatibility forms and accents gone, small. */
export const searchable = (text: string): string => allWords(text).join(' ')

const allWords = (text: string): string[] =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []

/** The words of a query; what is no letter or digit only separates them, so no syntax gets through (F4). */
export const wordsOf = (q: string): string[] => [...new Set(allWords(q))].slice(0, 12)

/** Skills of a kind in the order asked for, at most `limit` after a mark. */
export async function searchSkills(
  db: Reader,
  among: Among,
  { category, words, sort }: SkillFilter,
  before: Mark | null,
  limit: number,
): Promise<SkillRow[]> {
  if (words?.length === 0) return []
  const table = db.of(skills)
  const rank = sort === 'installs' ? table.install_count : sort === 'rating' ? table.rating : table.created_at
  const sameRank = before && and(eq(rank, before.at), lt(table.id, before.id as SkillId))
  const hits = words && (await matching(db, table, words))
  const conditions: (SQL | undefined)[] = [
    reach(table, among, hits?.few === true),
    category ? eq(table.category, category) : undefined,
    hits?.condition,
    before ? or(lt(rank, before.at), sameRank ?? undefined) : undefined,
  ]
  return db
    .select()
    .from(table)
    .where(and(...conditions))
    .orderBy(desc(rank), desc(table.id))
    .limit(limit)
}

/** For few hits the plus keeps the planner from walking the whole sorted list to find them. */
function reach(table: typeof skills.sqlite, among: Among, few: boolean): SQL | undefined {
  if ('listed' in among) return few ? sql`+${table.listed} = 1` : eq(table.listed, true)
  if ('owner' in among) return eq(table.owner, among.owner)
  return and(inArray(table.org_scope_id, [...among.orgIds]), eq(table.visibility, 'org'), eq(table.status, 'approved'))
}

/** What a row must meet to be a hit, and whether SQLite knows them all already. */
type Hits = { condition: SQL; few: boolean }

/** On Postgres its own index finds the hits. */
async function matching(db: Reader, table: typeof skills.sqlite, words: readonly string[]): Promise<Hits> {
  if (db.dialect === 'postgres') {
    const terms = words.map((word, place) => (place === words.length - 1 ? `${word}:*` : word)).join(' & ')
    const condition = sql`to_tsvector('simple', ${table.search_text}) @@ to_tsquery('simple', ${terms})`
    return { condition, few: false }
  }
  const terms = words.map((word, place) => `"${word}"${place === words.length - 1 ? '*' : ''}`).join(' ')
  const hits = await db
    .select({ seq: sql<number>`rowid` })
    .from(sql`skills_search`)
    .where(sql`skills_search match ${terms}`)
    .limit(FEW_HITS + 1)
  if (hits.length > FEW_HITS) {
    const padded = sql`' ' || ${table.search_text} || ' '`
    const like = words.map((word, place) => `% ${word}${place === words.length - 1 ? '' : ' '}%`)
    return { condition: and(...like.map((pattern) => sql`${padded} like ${pattern}`))!, few: false }
  }
  const list = JSON.stringify(hits.map(({ seq }) => seq))
  return { condition: sql`${table.seq} in (select value from json_each(${list}))`, few: true }
}

export const markOf = (sort: SkillSort) => (row: SkillRow) => ({
  at: sort === 'installs' ? row.install_count : sort === 'rating' ? row.rating : row.created_at,
  id: row.id as string,
})
