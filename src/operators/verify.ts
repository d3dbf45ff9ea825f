import type { Call, OperatorCaller } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import type { Reader, Store } from '../kernel/store'
import type { Verification } from './schema'

/** A check of a room's own rows: returns a sentence for each violation; empty when sound. */
type Invariant = { check: string; violations(reader: Reader): Promise<string[]> }

type Deps = { store: Store; clock: Clock; invariants: readonly Invariant[] }

/**
 * Runs all checks of the stored data (I6, I8, I20), one after another, so that a live server keeps
 * serving requests.
 */
export function createVerify({ store, clock, invariants }: Deps) {
  const all: readonly Invariant[] = [{ check: 'integrity', violations: () => store.integrity() }, ...invariants]

  return async function verify(_call: Call<OperatorCaller>): Promise<Verification> {
    const checks: Verification['checks'] = []
    for (const { check, violations } of all) {
      const began = clock.monotonic()
      const found = await violations(store.readLong)
      checks.push({ check, violations: found, ms: Math.round(clock.monotonic() - began) })
    }
    const ok = checks.every(({ violations }) => violations.length === 0)
    return { object: 'verification', ok, checked_at: iso(clock.now()), checks }
  }
}
