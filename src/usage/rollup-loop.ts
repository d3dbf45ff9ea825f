import { and, gte, inArray, lt, sql } from 'drizzle-orm'
import type { Clock } from '../kernel/clock'
import { type Loop, nextTurn, startLoop } from '../kernel/loop'
import { addedOf, command, type Reader, type Store, type Tx } from '../kernel/store'
import {
  addEncoded,
  type Bucket,
  type Counted,
  createBuckets,
  encode,
  grainsOf,
  type Histogram,
  noCalls,
  type Speed,
  speedsOf,
  startOf,
} from './buckets'
import { addSpeeds } from './report-repository'
import {
  addToRollup,
  cursorAt,
  latencyAt,
  moveCursor,
  newestId,
  placeCursor,
  recordsAfter,
  requestsOf,
  skillsOf,
} from './rollup-repository'
import type { Span } from './spans'
import { skillCalls } from './table'

const newest = async (db: Reader): Promise<number> => (await newestId(db, {}))[0]?.id ?? 0

const addCalls = command<{ skill: string; at: number; calls: number }>()((tx, p) => {
  const t = tx.of(skillCalls)
  return tx
    .insert(t)
    .values({ skill: p.skill, at: p.at, calls: p.calls })
    .onConflictDoUpdate({ target: [t.skill, t.at], set: addedOf(t, ['calls']) })
})

/** Pause between rollups. Reports read newer calls individually. */
const IDLE_MS = 2_000
/** Pause after a check without new calls, so that an idle server wakes less often. */
const CALM_MS = 6_000
/** Maximum records read and buckets written per batch, because both block other work for some milliseconds. */
const MAX_RECORDS = 2_000
const MAX_BUCKETS = 200
const MIN_RECORDS = 100
/**
 * Requests of a key in an hour from which on the next hour is a busy one, or this one, if its first batch has a part.
 * All keys of an owner need some times as many, because their minutes are shorter than the slots of a key.
 */
const BUSY_REQUESTS = 1_000
const BUSY_TIMES_OF_ALL = 5
const BUSY_PART = 20
const MAX_BEGUN = 5_000

/**
 * Reads usage records in id order and adds them to the day, hour and slot buckets, so that calls themselves do not
 * write these. Summing happens outside the transaction. The transaction moves the cursor only from the position that
 * was read, so with several nodes each record is still counted once.
 */
export function createRollup({ store, busyRequests = BUSY_REQUESTS }: { store: Store; busyRequests?: number }) {
  /** Whether an hour of a key, or of all keys, that has begun is a busy one. */
  const begun = new Map<string, boolean>()
  const watermark = createWatermark()
  /** Number of records to read per batch: about twice what recently fit, because reading more would be wasted. */
  let worthReading = MAX_RECORDS

  /** Rolls up one batch. `done` means that it reached the last record. */
  return async function rollBatch(limit = MAX_RECORDS): Promise<{ records: number; done: boolean }> {
    const [cursor] = await cursorAt(store.read, {})
    if (!cursor) await store.write((tx) => placeCursor(tx, {}))
    const from = cursor?.position ?? 0
    const upTo = await watermark(store.read, from)
    if (upTo <= from) return { records: 0, done: true }
    // The previous step (usually a commit) was enough work for one turn of the event loop.
    await nextTurn()
    const wanted = Math.min(limit, worthReading)
    const records = await recordsAfter(store.read, { above: from, upTo, limit: wanted })
    const skills = await skillsOf(store.read, records)
    const busy = await busyHours(records)
    const buckets = createBuckets((call, key) => busy.has(hourNameOf(call, key)))
    let taken = 0
    while (taken < records.length && buckets.count() < MAX_BUCKETS) {
      const record = records[taken++]!
      buckets.add(record, skills.get(record.id) ?? [])
    }
    const reachedEnd = taken === records.length && records.length < wanted
    worthReading = Math.min(MAX_RECORDS, Math.max(MIN_RECORDS, taken * 2))
    const to = reachedEnd ? upTo : records[taken - 1]!.id
    const sums = buckets.all()
    const speeds = speedsOf(records.slice(0, taken))
    const isCommitted = await store.write((tx) => commit(tx, { from, to }, sums, speeds))
    return { records: isCommitted ? taken : 0, done: reachedEnd }
  }

  /** The busy hours. It is decided with the first call of an hour, so that its finest buckets have all of them. */
  async function busyHours(records: readonly Counted[]): Promise<ReadonlySet<string>> {
    const busy = new Set<string>()
    for (const isOfAll of [true, false]) {
      const keyOf = ({ api_key_id }: Counted) => (isOfAll ? '' : (api_key_id ?? ''))
      for (const [name, calls] of Map.groupBy(records, (call) => hourNameOf(call, keyOf(call)))) {
        const [api_key, { owner, at }] = [keyOf(calls[0]!), calls[0]!]
        if (api_key === '' && !isOfAll) continue
        let isBusy = begun.get(name)
        if (isBusy === undefined) {
          const hour = { owner, api_key, grain: 'hour', at: startOf('hour', at) } as const
          const { its, before, finer } = await requestsOf(store.read, hour, grainsOf(api_key, true).at(-1)!)
          const minimum = busyRequests * (isOfAll ? BUSY_TIMES_OF_ALL : 1)
          isBusy = its > 0 ? its === finer : Math.max(before, calls.length * BUSY_PART) >= minimum
          if (begun.size > MAX_BEGUN) begun.clear()
          // Until it has begun, another node may decide otherwise.
          if (its > 0) begun.set(name, isBusy)
        }
        if (isBusy) busy.add(name)
      }
    }
    return busy
  }
}

const hourNameOf = ({ owner, at }: Counted, key: string): string => `${owner} ${key} ${startOf('hour', at)}`

/** Moves the cursor and adds the buckets in one transaction. False when another node already took these records. */
async function commit(
  tx: Tx,
  step: { from: number; to: number },
  buckets: readonly Bucket[],
  speeds: readonly Speed[],
): Promise<boolean> {
  if (!(await moveCursor(tx, step))) return false
  const scratch = noCalls()
  await Promise.all(buckets.map((bucket) => addBucket(tx, bucket, scratch)))
  await addSkillCalls(tx, buckets)
  await addSpeeds(tx, speeds)
  return true
}

/** Does not modify the bucket, because a transaction may be retried. `scratch` is not used across an await. */
async function addBucket(tx: Tx, { sums, cells, ...key }: Bucket, scratch: Histogram): Promise<void> {
  const [known] = await latencyAt(tx, key)
  scratch.fill(0)
  if (known) addEncoded(scratch, known.latency)
  for (const list of cells) for (const cell of list) scratch[cell]! += 1
  await addToRollup(tx, { ...key, ...sums, latency: encode(scratch) })
}

type Options = { store: Store; clock: Clock; onError(name: string, error: unknown): void }

/** Keeps the rollups a few seconds behind the calls. Reports read the calls that are not rolled up yet. */
export const startRollupLoop = ({ store, clock, onError }: Options): Loop => {
  const rollBatch = createRollup({ store })
  let found = 0
  return startLoop({
    name: 'usage-rollups',
    idleMs: () => (found ? IDLE_MS : CALM_MS),
    clock,
    onError,
    tick: async () => {
      const { records, done } = await rollBatch()
      found = records
      return done ? 0 : records
    },
  })
}

/** Adds calls to the hourly counts of their skills. Uses only hour buckets over all keys, with each call once. */
async function addSkillCalls(tx: Tx, buckets: readonly Bucket[]): Promise<void> {
  const hours = buckets.filter(({ grain, api_key, skill }) => grain === 'hour' && api_key === '' && skill !== '')
  const sums = new Map<string, { skill: string; at: number; calls: number }>()
  for (const { skill, at, sums: added } of hours) {
    const name = `${skill} ${at}`
    const sum = sums.get(name) ?? { skill, at, calls: 0 }
    sums.set(name, { ...sum, calls: sum.calls + added.requests })
  }
  for (const sum of sums.values()) await addCalls(tx, sum)
}

/**
 * The number of calls that used each skill, over whole hours and up to the last rollup. Contains no owner, because the
 * author of a skill must not see who uses it.
 */
export async function callsWithSkills(
  db: Reader,
  skills: readonly string[],
  { from, to }: Span,
): Promise<Map<string, number>> {
  if (!skills.length) return new Map()
  const t = db.of(skillCalls)
  const rows = await db
    .select({ skill: t.skill, calls: sql<number>`sum(${t.calls})`.mapWith(Number) })
    .from(t)
    .where(and(inArray(t.skill, [...skills]), gte(t.at, from), lt(t.at, to)))
    .groupBy(t.skill)
  return new Map(rows.map(({ skill, calls }) => [skill, calls]))
}

/**
 * Returns the id up to which no new record can appear. On SQLite that is the newest id, because one writer assigns and
 * commits ids in order. On Postgres an id is assigned before its commit, so a lower id may appear after a higher one. A
 * transaction that has an id holds a lock on the table until it ends. Once every transaction that held a lock after the
 * newest id was read has ended, nothing below that id is missing. Returns 0 while such transactions are open. Returns
 * `from`, the position of the caller, when there is nothing newer.
 */
function createWatermark() {
  let watched: { upTo: number; writers: ReadonlySet<string> } | null = null

  return async function watermark(db: Reader, from = 0): Promise<number> {
    if (db.dialect === 'sqlite') return newest(db)
    if (!watched) {
      const upTo = await newest(db)
      if (upTo <= from) return from
      watched = { upTo, writers: await writersOf(db) }
    } else {
      const { upTo, writers } = watched
      watched = { upTo, writers: writers.intersection(await writersOf(db)) }
    }
    if (watched.writers.size > 0) return 0
    const { upTo } = watched
    watched = null
    return upTo
  }
}

/** Open transactions that have written usage records or are about to. */
async function writersOf(db: Reader): Promise<Set<string>> {
  const rows = await db
    .select({ writer: sql<string>`virtualtransaction` })
    .from(sql`pg_locks`)
    .where(
      sql`relation = 'usage_records'::regclass AND mode = 'RowExclusiveLock'
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    )
  return new Set(rows.map(({ writer }) => writer))
}
