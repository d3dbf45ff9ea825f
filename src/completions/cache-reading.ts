import type { OwnerScope } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { sha256Hex } from '../kernel/crypto'
import type { KeyId } from '../kernel/ids'
import { microToCents } from '../kernel/money'
import type { AnswerCache, Entry } from './cache'

/** A filter of cached answers; every member that is given must match. */
export type CacheChoice = { owner?: OwnerScope | undefined; keyId?: KeyId | undefined; mode?: string | undefined }

type Deps = { cache: AnswerCache; clock: Clock; enabled: boolean }

export type CacheReading = ReturnType<typeof createCacheReading>

/** The operators' view of this process's answer cache. Never shows the text of a prompt or an answer. */
export function createCacheReading({ cache, clock, enabled }: Deps) {
  return {
    /** Counts since the start of this process; entries are grouped by resolved mode. */
    stats() {
      const { hits, misses, savedMicro } = cache.tally()
      const modes = new Map<string, { mode: string; entries: number; hits: number }>()
      let entries = 0
      for (const [, { answer, hits: used }] of cache.all()) {
        entries++
        const known = modes.get(answer.resolvedMode) ?? { mode: answer.resolvedMode, entries: 0, hits: 0 }
        modes.set(known.mode, { ...known, entries: known.entries + 1, hits: known.hits + used })
      }
      return {
        enabled,
        entries,
        bytes: cache.bytes(),
        max_bytes: cache.maxBytes,
        hits,
        misses,
        hit_rate: hits + misses > 0 ? Number((hits / (hits + misses)).toFixed(4)) : 0,
        saved_cents: microToCents(savedMicro),
        by_mode: [...modes.values()].sort((a, b) => b.entries - a.entries || (a.mode < b.mode ? -1 : 1)),
      }
    },

    /** The cached answers to exactly this prompt, of all callers that the filter leaves. */
    find(prompt: string, choice: CacheChoice) {
      const hash = sha256Hex(prompt)
      const found = [...cache.all()].filter(([, entry]) => entry.promptHash === hash && isMeant(entry, choice))
      return found.map(([, entry]) => present(entry))
    },

    /** Removes the chosen answers and returns how many there were. */
    purge: (choice: CacheChoice): number => cache.purge((entry) => isMeant(entry, choice)),
  }

  function present({ answer, owner, keyId, until, hits, costMicro }: Entry) {
    const leftMs = until - clock.monotonic()
    return {
      completion_id: answer.id,
      owner,
      key_id: keyId,
      mode: answer.resolvedMode,
      model: answer.model.id,
      hits,
      created: iso(answer.createdAt),
      expires: iso(clock.now() + leftMs),
      cost_cents: microToCents(costMicro),
    }
  }
}

const isMeant = (entry: Entry, { owner, keyId, mode }: CacheChoice): boolean =>
  (owner === undefined || entry.owner === owner) &&
  (keyId === undefined || entry.keyId === keyId) &&
  (mode === undefined || entry.answer.resolvedMode === mode)
