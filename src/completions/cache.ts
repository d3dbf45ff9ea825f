import { LRUCache } from 'lru-cache'
import type { FinishedBecause } from '../agent/schema'
import type { ToolCall } from '../engines'
import type { Firing } from '../guardrails/schema'
import type { OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { sha256Hex } from '../kernel/crypto'
import type { KeyId } from '../kernel/ids'
import { createShares } from './cache-shares'
import type { CompletionId, FollowUp, ModelRef, Routing, SkillActive, StructuredOutput, ToolUse } from './schema'
import type { Artifact } from './schema-artifact'

/** An answer as it is remembered: everything but whose request it was. */
export type StoredAnswer = {
  id: CompletionId
  createdAt: number
  content: string
  resolvedMode: string
  model: ModelRef
  finish: FinishedBecause
  toolsUsed: ToolUse[]
  /** Calls of the client's own functions (contract 4). */
  toolCalls: readonly ToolCall[]
  /** Why the content is not what `response_format` asked for; null when it is (contract 4). */
  refusal: string | null
  artifacts: Artifact[]
  followUps: FollowUp[]
  skillsActive: SkillActive[]
  structuredOutput: StructuredOutput | undefined
  routing: Routing
  warnings: string[]
  /** What fired after the prompt was let in. */
  guardrails: readonly Firing[]
  promptTokens: number
  completionTokens: number
}

/** Whose an entry is, and for what it may be looked up or removed. */
export type Entry = {
  readonly answer: StoredAnswer
  /** `clock.monotonic()` after which it is no longer served. */
  readonly until: number
  /** See `cacheScopeOf`. */
  readonly scope: string
  readonly owner: OwnerScope
  /** Of the key that paid for it; null for a session. */
  readonly keyId: KeyId | null
  readonly promptHash: string
  /** What making it cost, in micro-cents: what each further use of it saves. */
  readonly costMicro: number
  hits: number
}

export type NewEntry = Pick<Entry, 'answer' | 'scope' | 'owner' | 'keyId' | 'costMicro'> & {
  prompt: string
  ttlS: number
}

type Options = { clock: Clock; maxBytes?: number }

const MAX_BYTES = 64 * 1024 * 1024
/** Of the whole: what one scope may fill, and what one answer may. Nobody pushes everyone else's answers out. */
const SCOPE_SHARE = 1 / 8
const ENTRY_SHARE = 1 / 64

/** Bytes an answer takes, nearly: two a character, and what an object of it costs. */
function weightOf({ content, structuredOutput, toolsUsed, artifacts, warnings }: StoredAnswer): number {
  const rest = toolsUsed.length + artifacts.length + warnings.length
  const parsed = structuredOutput ? 4 * content.length : 0
  return 1024 + 2 * content.length + parsed + (rest ? 2 * JSON.stringify([toolsUsed, artifacts, warnings]).length : 0)
}

/**
 * Answers by the hash of everything that shaped them (contract 22.1), bounded in memory as a whole and by
 * scope, each for its time. Also knows which are being made, so that identical requests wait for one run
 * instead of paying twice.
 */
export function createAnswerCache({ clock, maxBytes = MAX_BYTES }: Options) {
  const shares = createShares(Math.floor(maxBytes * SCOPE_SHARE))
  const entries = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    maxEntrySize: Math.floor(maxBytes * ENTRY_SHARE),
    sizeCalculation: ({ answer }) => weightOf(answer),
    dispose: ({ scope }, key) => shares.remove(scope, key),
  })
  const inFlight = new Map<string, Promise<StoredAnswer | null>>()
  /** Since this process began; cost in micro-cents. */
  const tally = { hits: 0, misses: 0, savedMicro: 0 }

  return {
    get: (key: string): StoredAnswer | null => find(key)?.answer ?? null,
    find,

    has: (key: string): boolean => (entries.peek(key)?.until ?? 0) > clock.monotonic(),

    put(key: string, { prompt, ttlS, ...entry }: NewEntry): void {
      const until = clock.monotonic() + ttlS * 1000
      if (ttlS > 0) keep(key, { ...entry, until, promptHash: sha256Hex(prompt), hits: 0 })
    },

    keep,

    /** The run already making this answer under this name, if there is one; it yields null when it failed. */
    pending(key: string): Promise<StoredAnswer | null> | undefined {
      const run = inFlight.get(key)
      if (run) tally.hits++
      return run
    },

    /** Counts a request for which nothing was found. */
    missed(): void {
      tally.misses++
    },

    /** Announces a run; the returned function ends it, with the answer or without. */
    lead(key: string): (answer: StoredAnswer | null) => void {
      const { promise, resolve } = Promise.withResolvers<StoredAnswer | null>()
      inFlight.set(key, promise)
      return (answer) => {
        if (inFlight.get(key) === promise) inFlight.delete(key)
        resolve(answer)
      }
    },

    /** What is served now, the most recently used first; what is over is left out. */
    *all(): Generator<[key: string, entry: Entry]> {
      const now = clock.monotonic()
      for (const [key, entry] of entries.entries()) if (entry.until > now) yield [key, entry]
    },

    /** Removes what `chosen` says yes to, and tells how many. */
    purge(chosen: (entry: Entry) => boolean): number {
      const doomed = [...entries.entries()].filter(([, entry]) => chosen(entry))
      for (const [key] of doomed) entries.delete(key)
      return doomed.length
    },

    bytes: () => entries.calculatedSize,
    maxBytes,
    tally: () => ({ ...tally }),
  }

  /** Under another key as well an answer lives no longer than it did. */
  function keep(key: string, entry: Entry): void {
    entries.set(key, { ...entry, hits: 0 })
    if (!entries.has(key)) return
    for (const old of shares.add(entry.scope, key, weightOf(entry.answer))) entries.delete(old)
  }

  /** What is served for a key, if anything is. */
  function find(key: string): Entry | null {
    const entry = entries.get(key)
    if (!entry) return null
    if (entry.until <= clock.monotonic()) {
      entries.delete(key)
      return null
    }
    entry.hits++
    tally.hits++
    tally.savedMicro += entry.costMicro
    return entry
  }
}

export type AnswerCache = ReturnType<typeof createAnswerCache>
