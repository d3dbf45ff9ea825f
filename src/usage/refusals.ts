import type { OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { KeyId } from '../kernel/ids'
import type { Store, Tx } from '../kernel/store'
import { grainsOf, type Place, startOf } from './buckets'
import type { Choice } from './report-repository'
import { addRefused, placeCursor } from './rollup-repository'
import type { Span } from './spans'

/** Calls of one key, or of one owner's sessions, that were refused within one slot. */
type Count = { owner: OwnerScope; keyId: KeyId | null; at: number; calls: number }

/** How many counts one unit writes down: each is five rows. */
const BATCH = 40
/** Counts that no unit has written yet; more than this many keys within some seconds is nobody's traffic. */
const MOST = 50_000

export type Refusals = ReturnType<typeof createRefusals>

/**
 * Calls that were answered 4xx before they began: they have no row, because a flood of refusals must not
 * become a flood of writes. They are counted here and added to the rollups in groups; a crash loses the
 * last seconds of them.
 */
export function createRefusals({ clock }: { clock: Clock }) {
  const told = new WeakSet<object>()
  const waiting = new Map<string, Count>()

  function add({ owner, keyId, at, calls }: Count): void {
    const name = `${owner} ${keyId} ${at}`
    const known = waiting.get(name)
    if (known) known.calls += calls
    else if (waiting.size < MOST) waiting.set(name, { owner, keyId, at, calls })
  }

  function take(): Count[] {
    const taken = [...waiting].slice(0, BATCH)
    for (const [name] of taken) waiting.delete(name)
    return taken.map(([, count]) => count)
  }

  return {
    /** Says that a row tells of the call that this ended. */
    isTold(broken: unknown): void {
      if (broken instanceof Error) told.add(broken)
    },

    /** Counts one, unless its error is known from a row. */
    note(owner: OwnerScope, keyId: KeyId | null, error: Error | null): void {
      if (error && told.has(error)) return
      add({ owner, keyId, at: startOf('slot', clock.now()), calls: 1 })
    },

    /** Those that no bucket has yet. They have neither mode nor skill. */
    waiting({ owner, keyId, mode, skill }: Choice, { from, to }: Span): number {
      if (mode !== undefined || skill !== undefined) return 0
      const mine = [...waiting.values()].filter(
        (count) => count.owner === owner && (keyId === undefined || count.keyId === keyId),
      )
      return mine.reduce((sum, { at, calls }) => (at >= from && at < to ? sum + calls : sum), 0)
    },

    /** Writes some of them down and says how many keys it was; what cannot be written waits on. */
    async flush(store: Store): Promise<number> {
      const counts = take()
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

/** All keys of an owner are one row of each grain. */
async function addAll(tx: Tx, counts: readonly Count[]): Promise<void> {
  const sums = new Map<string, Place & { refused: number }>()
  for (const { calls, ...count } of counts)
    for (const place of placesOf(count)) {
      const name = Object.values(place).join('\n')
      const known = sums.get(name)
      if (known) known.refused += calls
      else sums.set(name, { ...place, refused: calls })
    }
  // Buckets are read together with how far they have come.
  await placeCursor(tx, {})
  for (const sum of sums.values()) await addRefused(tx, sum)
}

function placesOf({ owner, keyId, at }: Omit<Count, 'calls'>): Place[] {
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
