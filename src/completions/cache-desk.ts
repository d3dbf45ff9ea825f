import type { OwnerScope } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { sha256Hex } from '../kernel/crypto'
import type { KeyId } from '../kernel/ids'
import { microToCents } from '../kernel/money'
import type { AnswerCache, Entry } from './cache'

/** Which answers are meant; all that is given must fit. */
export type CacheChoice = { owner?: OwnerScope | undefined; keyId?: KeyId | undefined; mode?: string | undefined }

type Deps = { cache: AnswerCache; clock: Clock; enabled: boolean }

export type CacheDesk = ReturnType<typeof createCacheDesk>

/** What this process remembers of answers, for operators. Never what they say. */
export function createCacheDesk({ cache, clock, enabled }: Deps) {
  return {
    /** Since the start of this process; entries by the mode that answered. */
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

    /** The answers that are served to this very prompt, whoever sends it. */
    find(prompt: string, choice: CacheChoice) {
      const hash = sha256Hex(prompt)
      const found = [...cache.all()].filter(([, entry]) => entry.promptHash === hash && isMeant(entry, choice))
      return found.map(([, entry]) => present(entry))
    },

    /** Forgets them, and tells how many they were. */
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
