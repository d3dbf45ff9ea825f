import { and, desc, eq, inArray, lt, or, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { OrgId } from '../kernel/ids'
import { foundBy, inParts } from '../kernel/keyset'
import type { Mark } from '../kernel/page'
import { query, type Reader } from '../kernel/store'
import type { SkillCategory } from './manifest'
import type { SkillSort } from './schema'
import { isOfOrg, type ListedRow, listedColumns, skills } from './table'

/** Text normalized for search: lower case, without accents and compatibility forms. */
export const searchable = (text: string): string => allWords(text).join(' ')

const allWords = (text: string): string[] =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []

/** At most 12 words of a query. Keeps only letters and digits, so no search syntax gets through. */
export const wordsOf = (q: string): string[] => [...new Set(allWords(q))].slice(0, 12)

/** Prefixes of one or two ASCII letters match too many words. In other scripts one character may be a word. */
const SHORTEST_BEGINNING = 3

/** Whether the last word of a query is also searched as a prefix, because the user may still be typing it. */
export const isPrefixSearched = (word: string): boolean =>
  !/^[\p{ASCII}]+$/u.test(word) || word.length >= SHORTEST_BEGINNING

/** The skill number in a cursor mark. Returns 0 for cursors of other lists, which gives an empty page. */
const seqOf = ({ id }: Mark): number => (/^\d{1,15}$/.test(id) ? Number(id) : 0)

/** A page of a store search. All words must occur. `before` is the end of the previous page. */
type SearchPage = {
  words: readonly string[]
  category: SkillCategory | undefined
  sort: SkillSort
  before: Mark | null
  limit: number
}

/** Sort orders as numbered in the SQLite index, which contains each skill once per order. */
const ORDERS: Record<SkillSort, number> = { installs: 0, rating: 1, newest: 2 }

const HIGHEST = 0x0fff_ffff

/** Prefix lengths FTS5 has an index for. Longer prefixes usually match few words and are expanded instead. */
const INDEXED = [3, 4]

const MAX_WORDS = 200

/** Rows of the sorted list that are scanned first. A word that occurs in every 60th skill fills a page within them. */
const FIRST_LOOK = 3_000

/** This many hits in the first scan show that the words are frequent. Scanning on is then faster than collecting. */
const FREQUENT = 35

/** Maximum number of collected and sorted hits. With more hits, scanning the sorted list soon fills the page. */
const FEW_HITS = 1_500

type Params = { terms: string; category: string; at: number; seq: number; limit: number }

type Shape = { sort: SkillSort; isLater: boolean; hasCategory: boolean }

/** One prepared statement per shape, because building such a long statement takes longer than running it. */
const declared = (shape: Shape) => query<Params>()((db, p) => built(db, p, shape))

const ofSort = (sort: SkillSort) => {
  const each = (isLater: boolean) => ({
    one: declared({ sort, isLater, hasCategory: true }),
    all: declared({ sort, isLater, hasCategory: false }),
  })
  return { first: each(false), later: each(true) }
}

const pages = { installs: ofSort('installs'), rating: ofSort('rating'), newest: ofSort('newest') }

type Branches = { place: unknown; order: SQL; rest: SQL; hit: SQL; limit: Placeholder }

export type SkillFilter = {
  category?: SkillCategory | undefined
  /** Words that must all occur. The last one may be a prefix. Null: no search. Empty: nothing matches. */
  words: readonly string[] | null
  sort: SkillSort
}

type Among = { listed: true } | { orgIds: readonly OrgId[] } | { owner: OwnerScope }

/** At most `limit` skills of one set after a mark, sorted. Equal ranks are sorted newest first. */
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
  const parts = visibleTo(table, among).map((part) => and(part, narrowed))
  const firstOf = (part: SQL | undefined) => {
    const seqs = db.select({ seq: table.seq }).from(table).where(part)
    return seqs.orderBy(...order).limit(limit)
  }
  const wanted = parts.length === 1 ? parts[0] : foundBy(table.seq, parts.map(firstOf))
  const rows = found.where(wanted).orderBy(...order)
  return rows.limit(limit)
}

/** Alternative conditions, one of which must hold; each is looked up in an index separately. */
function visibleTo(table: typeof skills.sqlite, among: Among): (SQL | undefined)[] {
  if ('listed' in among) return [eq(table.listed, true)]
  if ('owner' in among) return [eq(table.owner, among.owner)]
  return inParts(among.orgIds).map((some) =>
    and(inArray(table.org_scope_id, some), eq(table.status, 'approved'), isOfOrg(table)),
  )
}

/** Used for the few skills of one owner or org, which are compared one by one without an index. */
function occurring(table: typeof skills.sqlite, words: readonly string[]): SQL {
  const padded = sql`' ' || ${table.search_text} || ' '`
  const patterns = words.map(
    (word, index) => `% ${word}${index === words.length - 1 && isPrefixSearched(words[index]!) ? '' : ' '}%`,
  )
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

/**
 * A page of the store's skills that contain all words, in one statement. The word index is unsorted, so the statement
 * has three plans. Each runs only when the earlier ones did not fill the page: scan the start of the sorted list,
 * collect and sort the hits if there are few, scan the rest of the sorted list.
 */
function pageOnPostgres(db: Reader, { words, category, sort, before, limit }: SearchPage): Promise<ListedRow[]> {
  const terms = words.map(
    (word, place) => `'${word}'${place === words.length - 1 && isPrefixSearched(word) ? ':*' : ''}`,
  )
  const mark = before ? { at: before.at, seq: seqOf(before) } : { at: 0, seq: 0 }
  const page = pages[sort][before ? 'later' : 'first'][category ? 'one' : 'all']
  return page(db, { terms: terms.join(' & '), category: category ?? '', ...mark, limit })
}

function built(db: Reader, p: { [K in keyof Params]: Placeholder }, { sort, isLater, hasCategory }: Shape) {
  const table = db.of(skills)
  const rank = sort === 'installs' ? table.install_count : sort === 'rating' ? table.rating : null
  const place = rank ?? table.seq
  const input = rank ? sql`${rank} desc, ${table.seq} desc` : sql`${table.seq} desc`
  const older = isLater ? lt(table.seq, p.seq) : undefined
  const rest = and(
    // A literal condition, because with a parameter the planner cannot use the partial word index (`where listed`).
    sql`${table.listed}`,
    hasCategory ? eq(table.category, p.category) : undefined,
    isLater && rank ? or(lt(rank, p.at), and(eq(rank, p.at), older)) : older,
  )!
  const hit = sql`search_words @@ ${p.terms}::tsquery`
  return db
    .select(listedColumns(table))
    .from(table)
    .where(inArray(table.seq, sql`(${numbers({ place, order: input, rest, hit, limit: p.limit })})`))
    .orderBy(...(rank ? [desc(rank)] : []), desc(table.seq))
}

function numbers({ place, order: input, rest, hit, limit }: Branches): SQL {
  const first = sql`select seq, ${place} as place, ${hit} as hit from skills where ${rest} order by ${input} limit ${FIRST_LOOK}`
  const isShort = sql`(select count(*) from near) < ${limit}`
  const isRare = sql`(select count(*) from near) < least(${limit}, ${FREQUENT})`
  const some = sql`select seq, ${place} as place from skills where ${rest} and ${hit} and ${isRare} limit ${FEW_HITS + 1}`
  const isLong = sql`${isShort} and (not ${isRare} or (select max(hits) from few) > ${FEW_HITS})`
  // The `case` hides the condition from the planner, which would use the word index instead of the sorted list.
  const walked = sql`select seq from skills where ${rest} and (case when ${hit} then 1 end) = 1 and ${isLong} order by ${input} limit ${limit}`
  return sql`
    with near as materialized (select seq from (${first}) as looked where hit order by place desc, seq desc limit ${limit}),
    few as materialized (
      select seq, count(*) over () as hits from (${some}) as gathered order by place desc, seq desc limit ${limit}
    )
    select seq from near where not ${isShort}
    union all select seq from few where hits <= ${FEW_HITS}
    union all (${walked})`
}

/**
 * Numbers (`seq`) of the store's skills that contain all words. Index rowids encode order, rank and skill number, so
 * rows come out sorted and reading stops at the end of the page.
 */
async function hitsOnSqlite(db: Reader, wanted: SearchPage): Promise<number[]> {
  const { words, category, sort, before, limit } = wanted
  const query = [
    ...(category ? [`"\u{e000}${category}"`] : []),
    ...words.slice(0, -1).map((word) => `"${word}"`),
    await begun(db, words.at(-1)!),
  ].join(' AND ')
  const [rank, seq] = before ? [sort === 'newest' ? 0 : before.at, seqOf(before)] : [HIGHEST, 0xffff_ffff]
  const order = ORDERS[sort]
  const rows = await db
    .select({ seq: sql<number>`rowid & 4294967295` })
    .from(sql`skills_search`)
    .where(
      sql`skills_search match ${query} and rowid >= (${order} << 60) and rowid < ((${order} << 60) | (${rank} << 32) | ${seq})`,
    )
    .orderBy(sql`rowid desc`)
    .limit(limit)
  return rows.map((row) => row.seq)
}

/** Expands a prefix to the words that start with it, so that FTS5 merges their sorted lists and stops early. */
async function begun(db: Reader, word: string): Promise<string> {
  if (!isPrefixSearched(word)) return `"${word}"`
  if (INDEXED.includes([...word].length)) return `"${word}"*`
  const found = await db
    .select({ word: sql<string>`word` })
    .from(sql`skill_words`)
    .where(sql`word >= ${word} and word < ${`${word}\u{10ffff}`}`)
    .limit(MAX_WORDS + 1)
  if (found.length > MAX_WORDS) return `"${word}"*`
  return found.length ? `(${found.map((one) => `"${one.word}"`).join(' OR ')})` : `"${word}"`
}
