import { and, desc, eq, lt, or, sql } from 'drizzle-orm'
import type { Mark } from '../kernel/page'
import type { Reader } from '../kernel/store'
import type { SkillCategory } from './manifest'
import type { SkillSort } from './schema'
import { mayGoOn, seqOf } from './search-words'
import { skills } from './table'

type Wanted = {
  words: readonly string[]
  category: SkillCategory | undefined
  sort: SkillSort
  rank: typeof skills.sqlite.install_count | typeof skills.sqlite.rating | null
  before: Mark | null
  limit: number
}

/** The orders as they stand in the index of SQLite, which knows a skill once in each. */
const ORDERS: Record<SkillSort, number> = { installs: 0, rating: 1, newest: 2 }
const HIGHEST = 0x0fff_ffff

/**
 * Numbers of the skills of the store that all words occur in. The rows of the index are numbered by order, rank
 * and skill, so the words' lists come in the order asked for, and reading ends with the page.
 */
export async function hitsOnSqlite(db: Reader, wanted: Wanted): Promise<number[]> {
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

/** The index knows what begins with three and with four letters; what begins with more is few words as a rule. */
const INDEXED = [3, 4]
const MOST_WORDS = 200

/** A word and those it begins, each by itself: their lists are read side by side and no further than the page. */
async function begun(db: Reader, word: string): Promise<string> {
  if (!mayGoOn(word)) return `"${word}"`
  if (INDEXED.includes([...word].length)) return `"${word}"*`
  const found = await db
    .select({ word: sql<string>`word` })
    .from(sql`skill_words`)
    .where(sql`word >= ${word} and word < ${`${word}\u{10ffff}`}`)
    .limit(MOST_WORDS + 1)
  if (found.length > MOST_WORDS) return `"${word}"*`
  return found.length ? `(${found.map((one) => `"${one.word}"`).join(' OR ')})` : `"${word}"`
}

/** Of the sorted list so much is looked through first: a word of every twentieth skill fills its page there. */
const FIRST_LOOK = 1_000

/** So many hits are gathered and sorted; of more, one row in a hundred is a hit, and a walk soon fills a page. */
const FEW_HITS = 1_000

/** The same on Postgres, whose index of words knows no order. */
export async function hitsOnPostgres(db: Reader, wanted: Wanted): Promise<number[]> {
  const { words, category, rank, before, limit } = wanted
  const table = db.of(skills)
  const terms = words.map((word, place) => `'${word}'${place === words.length - 1 && mayGoOn(word) ? ':*' : ''}`)
  const isHit = sql`search_words @@ ${terms.join(' & ')}::tsquery`
  const older = before ? lt(table.seq, seqOf(before)) : undefined
  const rest = and(
    // Bare, since a plan that serves any value cannot use an index of listed skills only.
    sql`${table.listed}`,
    category ? eq(table.category, category) : undefined,
    before && rank ? or(lt(rank, before.at), and(eq(rank, before.at), older)) : older,
  )
  const first = db
    .select({ seq: table.seq, place: sql<number>`${rank ?? table.seq}`.as('place'), hit: isHit.as('hit') })
    .from(table)
    .where(rest)
    .orderBy(...(rank ? [desc(rank)] : []), desc(table.seq))
    .limit(FIRST_LOOK)
    .as('first')
  const near = await db
    .select({ seq: first.seq })
    .from(first)
    .where(sql`hit`)
    .orderBy(sql`place desc`, desc(first.seq))
    .limit(limit)
  if (near.length === limit) return near.map(({ seq }) => seq)
  const some = db
    .select({ seq: table.seq, place: sql<number>`${rank ?? table.seq}`.as('place') })
    .from(table)
    .where(and(rest, isHit))
    .limit(FEW_HITS + 1)
    .as('some')
  const gathered = await db
    .select({ seq: some.seq, hits: sql<number>`count(*) over ()`.mapWith(Number) })
    .from(some)
    .orderBy(sql`place desc`, desc(some.seq))
    .limit(limit)
  if ((gathered[0]?.hits ?? 0) <= FEW_HITS) return gathered.map(({ seq }) => seq)
  // What the planner does not take for a condition of the index of words keeps it on the sorted list.
  const met = await db
    .select({ seq: table.seq })
    .from(table)
    .where(and(rest, sql`(case when ${isHit} then 1 end) = 1`))
    .orderBy(...(rank ? [desc(rank)] : []), desc(table.seq))
    .limit(limit)
  return met.map(({ seq }) => seq)
}
