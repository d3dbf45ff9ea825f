import type { OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { KeyId } from '../kernel/ids'
import type { Store, Tx } from '../kernel/store'
import { grainsOf, type RollupKey, startOf } from './buckets'
import type { Choice } from './report-repository'
import { addRefused, placeCursor } from './rollup-repository'
import type { Span } from './spans'

/** Refused calls of one key, or of one owner's sessions, within one slot. */
type Count = { owner: OwnerScope; keyId: KeyId | null; at: number; calls: number }

/** Counts written per transaction; each one is five rows. */
const BATCH = 40
/** Most counts kept in memory; further keys are not counted. Real traffic does not reach this within seconds. */
const MAX = 50_000

export type Refusals = ReturnType<typeof createRefusals>

/**
 * Counts calls answered 4xx before they began. They get no usage row, so that a flood of refusals does not become a
 * flood of writes; the counts are added to the rollups in batches. A crash loses the last seconds.
 */
export function createRefusals({ clock }: { clock: Clock }) {
  const recorded = new WeakSet<object>()
  const waiting = new Map<string, Count>()

  function add({ owner, keyId, at, calls }: Count): void {
    const name = `${owner} ${keyId} ${at}`
    const existing = waiting.get(name)
    if (existing) existing.calls += calls
    else if (waiting.size < MAX) waiting.set(name, { owner, keyId, at, calls })
  }

  return {
    /** Marks an error whose call already has a usage row, so that `note` does not count it again. */
    markRecorded(error: unknown): void {
      if (error instanceof Error) recorded.add(error)
    },

    /** Counts one refused call, unless its error was marked by `markRecorded`. */
    note(owner: OwnerScope, keyId: KeyId | null, error: Error | null): void {
      if (error && recorded.has(error)) return
      add({ owner, keyId, at: startOf('slot', clock.now()), calls: 1 })
    },

    /** Refused calls not yet in any bucket. They have neither mode nor skill. */
    waiting({ owner, keyId, mode, skill }: Choice, { from, to }: Span): number {
      if (mode !== undefined || skill !== undefined) return 0
      const counts = [...waiting.values()].filter(
        (count) => count.owner === owner && (keyId === undefined || count.keyId === keyId),
      )
      return counts.reduce((sum, { at, calls }) => (at >= from && at < to ? sum + calls : sum), 0)
    },

    /** Writes one batch and returns how many counts it had. A batch that fails is put back. */
    async flush(store: Store): Promise<number> {
      const taken = [...waiting].slice(0, BATCH)
      for (const [name] of taken) waiting.delete(name)
      const counts = taken.map(([, count]) => count)
      if (!counts.length) return 0
      try {
        await store.write((tx) => addAll(tx, counts))
      } catch (error) {
        counts.forEach(add)
        throw error
      }
      return counts.length
    },
  }
}

/** Sums first: the all-keys rows of an owner are shared by all counts of that owner. */
async function addAll(tx: Tx, counts: readonly Count[]): Promise<void> {
  const sums = new Map<string, RollupKey & { refused: number }>()
  for (const { calls, ...count } of counts)
    for (const key of rollupKeysOf(count)) {
      const name = Object.values(key).join('\n')
      const existing = sums.get(name)
      if (existing) existing.refused += calls
      else sums.set(name, { ...key, refused: calls })
    }
  // Reports read the buckets joined with the cursor, so the cursor row must exist.
  await placeCursor(tx, {})
  for (const sum of sums.values()) await addRefused(tx, sum)
}

function rollupKeysOf({ owner, keyId, at }: Omit<Count, 'calls'>): RollupKey[] {
  const keys = keyId === null ? [''] : ['', keyId]
  return keys.flatMap((api_key) =>
    grainsOf(api_key).map((grain) => ({
      owner,
      grain,
      api_key,
      at: startOf(grain, at),
      skill: '',
      mode: '',
      resolved_mode: '',
      model: '',
    })),
  )
}
