import type { Clock } from '../../kernel/clock'
import type { KeyId } from '../../kernel/ids'
import type { LastSeenBuffer } from '../../kernel/last-seen-buffer'
import { type Loop, startLoop } from '../../kernel/loop'
import type { Store } from '../../kernel/store'
import { keyRepository as rows } from './repository'

type Deps = { store: Store; sightings: LastSeenBuffer<KeyId> }
type LoopDeps = Deps & { clock: Clock; onError(name: string, error: unknown): void }

const IDLE_MS = 15_000
const BATCH = 500

/** Writes `last_used_at` of keys in the background, so that requests do not wait for it. */
export const startLastUsedLoop = ({ clock, onError, ...deps }: LoopDeps): Loop =>
  startLoop({ name: 'keys-last-used', idleMs: IDLE_MS, clock, onError, tick: () => flushLastUsed(deps) })

/** Writes everything noted so far in short transactions; also runs once when the server stops. */
export async function flushLastUsed({ store, sightings: lastSeenBuffer }: Deps): Promise<number> {
  const uses = lastSeenBuffer.take()
  for (let from = 0; from < uses.length; from += BATCH) {
    const batch = uses.slice(from, from + BATCH)
    await store.write((tx) => rows.noteUses(tx, batch))
  }
  return 0
}
