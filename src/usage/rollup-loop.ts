import type { Clock } from '../kernel/clock'
import { type Loop, startLoop } from '../kernel/loop'
import type { Store, Tx } from '../kernel/store'
import { addCall, type Bucket, type Buckets, merge } from './buckets'
import { createHorizon } from './horizon'
import { decode, encode } from './latency'
import { cursorAt, moveCursor, placeCursor, putRollup, recordsAfter, rollupAt, skillsOf } from './rollup-repository'

const IDLE_MS = 5_000
/** What one unit may take on: it shares the writer with every call. */
const MOST_RECORDS = 2_000
const MOST_BUCKETS = 400
const LEAST_RECORDS = 100

type Rolled = { records: number; done: boolean }

/**
 * Follows the usage records by id and adds them to their hours and days: nothing is written by the calls
 * themselves. Records are read and added up outside the unit of work, which moves the cursor only from where
 * it was read, so on several nodes each record is counted once.
 */
export function createRollup({ store }: { store: Store }) {
  const horizon = createHorizon()
  /** Of late, so many records filled a batch: more would be read in vain. */
  let worthReading = MOST_RECORDS

  /** One batch; `done` when it ended where the records did. */
  return async function rollBatch(limit = MOST_RECORDS): Promise<Rolled> {
    const from = await positionOf(store)
    const upTo = await horizon(store.read)
    if (upTo <= from) return { records: 0, done: true }
    const wanted = Math.min(limit, worthReading)
    const records = await recordsAfter(store.read, { above: from, upTo, limit: wanted })
    const skills = await skillsOf(store.read, records)
    const buckets: Buckets = new Map()
    let taken = 0
    while (taken < records.length && buckets.size < MOST_BUCKETS) {
      const record = records[taken++]!
      addCall(buckets, record, skills.get(record.id) ?? [])
    }
    const isAll = taken === records.length && records.length < wanted
    worthReading = Math.min(MOST_RECORDS, Math.max(LEAST_RECORDS, taken * 2))
    const to = isAll ? upTo : records[taken - 1]!.id
    const isOurs = await store.write((tx) => commit(tx, from, to, [...buckets.values()]))
    return { records: isOurs ? taken : 0, done: isAll }
  }
}

async function positionOf(store: Store): Promise<number> {
  const [cursor] = await cursorAt(store.read, {})
  if (!cursor) await store.write((tx) => placeCursor(tx, {}))
  return cursor?.position ?? 0
}

/** The cursor and the buckets, together or not at all. False when another node took these records. */
async function commit(tx: Tx, from: number, to: number, buckets: Bucket[]): Promise<boolean> {
  if (!(await moveCursor(tx, { from, to }))) return false
  const added = await Promise.all(buckets.map((bucket) => onTopOf(tx, bucket)))
  await Promise.all(added.map((bucket) => putRollup(tx, { ...bucket, latency: encode(bucket.latency) })))
  return true
}

/** The bucket and what is stored of it; a copy, because a unit may run twice. */
async function onTopOf(tx: Tx, { latency, ...bucket }: Bucket): Promise<Bucket> {
  const sum: Bucket = { ...bucket, latency: new Map(latency) }
  const [known] = await rollupAt(tx, bucket)
  if (known) merge(sum, known, decode(known.latency))
  return sum
}

type Options = { store: Store; clock: Clock; onError(name: string, error: unknown): void }

/** Keeps the rollups some seconds behind the calls while the server runs; reports add what is missing. */
export const startRollupLoop = ({ store, clock, onError }: Options): Loop => {
  const rollBatch = createRollup({ store })
  return startLoop({
    name: 'usage-rollups',
    idleMs: IDLE_MS,
    clock,
    onError,
    tick: async () => {
      const { records, done } = await rollBatch()
      return done ? 0 : records
    },
  })
}
