import { and, desc, eq, inArray, lt, or, type Placeholder, type SQL, sql } from 'drizzle-orm'
import { query, type Reader } from '../kernel/store'
import type { SkillSort } from './schema'
import type { Wanted } from './search-hits'
import { mayGoOn, seqOf } from './search-words'
import { type ListedRow, listedColumns, skills } from './table'

/** Rows of the sorted list scanned first. A word in every sixtieth skill fills a page within them. */
const FIRST_LOOK = 3_000

/** This many hits in the first scan show that the words are frequent, so scanning on is faster than collecting all. */
const FREQUENT = 35

/** Most hits collected and sorted. When there are more, scanning the sorted list soon fills the page. */
const FEW_HITS = 1_500

/**
 * A page of the store's skills that contain all words, in one statement. The word index is unsorted, so three plans
 * follow each other, each only when the earlier ones did not fill the page: scan the start of the sorted list,
 * collect and sort the hits if few, scan the rest of the sorted list.
 */
export function pageOnPostgres(db: Reader, { words, category, sort, before, limit }: Wanted): Promise<ListedRow[]> {
  const terms = words.map((word, place) => `'${word}'${place === words.length - 1 && mayGoOn(word) ? ':*' : ''}`)
  const mark = before ? { at: before.at, seq: seqOf(before) } : { at: 0, seq: 0 }
  const page = pages[sort][before ? 'later' : 'first'][category ? 'one' : 'all']
  return page(db, { terms: terms.join(' & '), category: category ?? '', ...mark, limit })
}

type Params = { terms: string; category: string; at: number; seq: number; limit: number }
type Places = { [K in keyof Params]: Placeholder }
type Shape = { sort: SkillSort; isLater: boolean; hasCategory: boolean }

/** One prepared statement per shape: building so long a statement takes longer than running it. */
const declared = (shape: Shape) => query<Params>()((db, p) => built(db, p, shape))
const ofSort = (sort: SkillSort) => {
  const each = (isLater: boolean) => ({
    one: declared({ sort, isLater, hasCategory: true }),
    all: declared({ sort, isLater, hasCategory: false }),
  })
  return { first: each(false), later: each(true) }
}
const pages = { installs: ofSort('installs'), rating: ofSort('rating'), newest: ofSort('newest') }

function built(db: Reader, p: Places, { sort, isLater, hasCategory }: Shape) {
  const table = db.of(skills)
  const rank = sort === 'installs' ? table.install_count : sort === 'rating' ? table.rating : null
  const place = rank ?? table.seq
  const order = rank ? sql`${rank} desc, ${table.seq} desc` : sql`${table.seq} desc`
  const older = isLater ? lt(table.seq, p.seq) : undefined
  const rest = and(
    // A literal condition: with a parameter the planner cannot use the word index, which is partial (`where listed`).
    sql`${table.listed}`,
    hasCategory ? eq(table.category, p.category) : undefined,
    isLater && rank ? or(lt(rank, p.at), and(eq(rank, p.at), older)) : older,
  )!
  const hit = sql`search_words @@ ${p.terms}::tsquery`
  return db
    .select(listedColumns(table))
    .from(table)
    .where(inArray(table.seq, sql`(${numbers({ place, order, rest, hit, limit: p.limit })})`))
    .orderBy(...(rank ? [desc(rank)] : []), desc(table.seq))
}

type Ways = { place: unknown; order: SQL; rest: SQL; hit: SQL; limit: Placeholder }

function numbers({ place, order, rest, hit, limit }: Ways): SQL {
  const first = sql`select seq, ${place} as place, ${hit} as hit from skills where ${rest} order by ${order} limit ${FIRST_LOOK}`
  const isShort = sql`(select count(*) from near) < ${limit}`
  const isRare = sql`(select count(*) from near) < least(${limit}, ${FREQUENT})`
  const some = sql`select seq, ${place} as place from skills where ${rest} and ${hit} and ${isRare} limit ${FEW_HITS + 1}`
  const isLong = sql`${isShort} and (not ${isRare} or (select max(hits) from few) > ${FEW_HITS})`
  // The `case` hides the condition from the planner, which would use the word index instead of the sorted list.
  const walked = sql`select seq from skills where ${rest} and (case when ${hit} then 1 end) = 1 and ${isLong} order by ${order} limit ${limit}`
  return sql`
    with near as materialized (select seq from (${first}) as looked where hit order by place desc, seq desc limit ${limit}),
    few as materialized (
      select seq, count(*) over () as hits from (${some}) as gathered order by place desc, seq desc limit ${limit}
    )
    select seq from near where not ${isShort}
    union all select seq from few where hits <= ${FEW_HITS}
    union all (${walked})`
}
