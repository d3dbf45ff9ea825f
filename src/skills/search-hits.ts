import { sql } from 'drizzle-orm'
import type { Mark } from '../kernel/page'
import type { Reader } from '../kernel/store'
import type { SkillCategory } from './manifest'
import type { SkillSort } from './schema'
import { mayGoOn, seqOf } from './search-words'

/** A page of a store search: all words must occur; `before` is where the previous page ended. */
export type Wanted = {
  words: readonly string[]
  category: SkillCategory | undefined
  sort: SkillSort
  before: Mark | null
  limit: number
}

/** Sort orders as numbered in the SQLite index, which contains each skill once per order. */
const ORDERS: Record<SkillSort, number> = { installs: 0, rating: 1, newest: 2 }
const HIGHEST = 0x0fff_ffff

/**
 * Numbers (`seq`) of the store's skills that contain all words. Index rowids encode order, rank and skill number, so
 * rows come out sorted and reading stops at the end of the page.
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

/** Prefix lengths FTS5 has an index for. Longer prefixes usually match few words and are expanded instead. */
const INDEXED = [3, 4]
const MOST_WORDS = 200

/** Expands a prefix to the words it begins, so that FTS5 merges their sorted lists and stops with the page. */
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
