import type { Clock } from '../kernel/clock'
import { type Loop, startLoop } from '../kernel/loop'
import type { Store, Tx } from '../kernel/store'
import { nextTurn } from '../kernel/turns'
import { type Bucket, createBuckets } from './buckets'
import { addSkillCalls } from './by-skill'
import { createHorizon } from './horizon'
import { addEncoded, encode, type Histogram, noCalls } from './latency'
import { addToRollup, cursorAt, latencyAt, moveCursor, placeCursor, recordsAfter, skillsOf } from './rollup-repository'
import { addSpeeds } from './speed-repository'
import { type Speed, speedsOf } from './speeds'

/** What comes meanwhile, every report looks at call by call. */
const IDLE_MS = 2_000
/** What one turn reads, and what one unit takes on: both keep everyone else waiting for some milliseconds (I28). */
const MOST_RECORDS = 2_000
const MOST_BUCKETS = 200
const LEAST_RECORDS = 100

type Rolled = { records: number; done: boolean }

/**
 * Follows the usage records by id and adds them to their days, hours and slots: nothing is written by the calls
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
    // What came before, a commit as a rule, was work enough for one turn.
    await nextTurn()
    const wanted = Math.min(limit, worthReading)
    const records = await recordsAfter(store.read, { above: from, upTo, limit: wanted })
    const skills = await skillsOf(store.read, records)
    const buckets = createBuckets()
    let taken = 0
    while (taken < records.length && buckets.count() < MOST_BUCKETS) {
      const record = records[taken++]!
      buckets.add(record, skills.get(record.id) ?? [])
    }
    const isAll = taken === records.length && records.length < wanted
    worthReading = Math.min(MOST_RECORDS, Math.max(LEAST_RECORDS, taken * 2))
    const to = isAll ? upTo : records[taken - 1]!.id
    const sums = buckets.all()
    const speeds = speedsOf(records.slice(0, taken))
    const isOurs = await store.write((tx) => commit(tx, { from, to }, sums, speeds))
    return { records: isOurs ? taken : 0, done: isAll }
  }
}

async function positionOf(store: Store): Promise<number> {
  const [cursor] = await cursorAt(store.read, {})
  if (!cursor) await store.write((tx) => placeCursor(tx, {}))
  return cursor?.position ?? 0
}

/** The cursor and the buckets, together or not at all. False when another node took these records. */
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

/** Changes nothing of the bucket, because a unit may run twice. `scratch` is free again at every await. */
async function addBucket(tx: Tx, { sums, cells, ...place }: Bucket, scratch: Histogram): Promise<void> {
  const [known] = await latencyAt(tx, place)
  scratch.fill(0)
  if (known) addEncoded(scratch, known.latency)
  for (const list of cells) for (const cell of list) scratch[cell]! += 1
  await addToRollup(tx, { ...place, ...sums, latency: encode(scratch) })
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
