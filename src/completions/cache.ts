import { LRUCache } from 'lru-cache'
import type { BrandSoul } from '../accounts/keys/schema'
import type { TokenDetails, ToolCall } from '../engines'
import type { Artifact } from '../files/schema'
import type { Firing } from '../guardrails/schema'
import { type Call, keyIdOf, type OwnerScope } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { open, randomBase62, seal, sha256Hex } from '../kernel/crypto'
import type { KeyId } from '../kernel/ids'
import { microToCents } from '../kernel/money'
import type { Activation } from '../skills'
import type { AgentResult, FinishedBecause } from './agent-schema'
import type { CompletionRequest } from './run'
import type {
  CompletionId,
  FollowUp,
  JobHandle,
  ModelRef,
  Routing,
  SkillActive,
  StructuredOutput,
  ToolUse,
} from './schema'

/** State besides the request that shapes an answer. Any change of it changes the cache key. */
export type CacheContext = {
  soul: BrandSoul | null
  memories: readonly string[]
  active: Activation
  /** Fingerprint of the engines of this server. */
  engines: string
  /** Fingerprint of the guardrail policy in force. Null without one. */
  policy: string | null
  /** Fingerprint of the caller's routing preferences. Null unless the mode is `auto`. */
  routing: string | null
}

/** The callers that share cached answers: all keys of one user, or one key of an org (docs/api.md 22.1). */
export const cacheScopeOf = ({ caller }: Pick<Call, 'caller'>): string =>
  caller.orgId ? `key:${keyIdOf(caller)}` : `user:${caller.userId}`

/**
 * Everything but the prompt that shapes an answer, each with its name in docs/api.md 22.1. JSON drops absent inputs,
 * which are undefined. Most requests have few of them, so the text to hash stays short.
 */
const shapeOf = ({ caller }: Pick<Call, 'caller'>, request: CompletionRequest, around: CacheContext) => ({
  scope: cacheScopeOf({ caller }), // "per user; per key for org keys"
  bindings: (caller.type === 'key' && caller.bindings) || undefined, // "key bindings and their revision"
  policy: around.policy ?? undefined, // the guardrail policy in force, bound or by default, and its rules
  routing: around.routing || undefined, // the routing preferences in force and their rules
  engines: around.engines, // the connected engines: this server could give a cached answer now
  mode: request.mode, // "mode"
  engine: request.engine ?? undefined, // the engine named instead of a mode's own
  overrides: request.overrides, // "model_overrides"
  voice: request.voice, // "persona, personality_config, response_style, branding flags, component_library"
  soulless: !request.usesSoul || undefined, // "branding flags": brand_soul
  soul: around.soul ?? undefined, // "brand soul"
  memories: nonEmpty(around.memories), // the caller's memories that the engine gets
  skills: nonEmpty(request.skills), // "skill slugs"
  active: around.active.fingerprint ?? undefined, // "installed-skill set"; not its text, whose markers differ every run
  tools: nonEmpty(request.tools), // "inline tools"
  sealed: request.sealed, // true if this server's tools, memories and installed skills are left out
  visitors: request.forVisitors, // true if the built-in engine leaves out how to set up this server
  turns: request.maxIterations, // "max_iterations"
  temperature: request.temperature, // "temperature"
  sampling: request.sampling, // sampling parameters of the engine
  limit: request.maxOutputTokens, // output token limit
  effort: request.reasoning?.effort, // reasoning effort
  context: nonEmpty(request.context), // "inline conversation"
  after: nonEmpty(request.after), // turns after the prompt
  attachments: nonEmpty(request.images), // "attachments"
  functions: request.functions ?? undefined, // the client's own tools
  json: request.json || undefined, // the requested JSON form
  followUps: request.wantsFollowUps, // true if the answer has follow-ups
  bounds: request.bounds, // limits on cost and tool calls, which may cut the answer short
  shape: request.shape, // "image_*", and the tools that `metadata` approves
})

const nonEmpty = <T>(list: readonly T[]): readonly T[] | undefined => (list.length ? list : undefined)

/**
 * The cache key of an answer. The shape is one line of JSON, so no prompt can imitate a part of it. Metadata, stream
 * and format are not included (docs/api.md 22.1).
 */
export const cacheKeyOf = (call: Pick<Call, 'caller'>, request: CompletionRequest, around: CacheContext): string =>
  sha256Hex(`${JSON.stringify(shapeOf(call, request, around))}\n${request.prompt}`)

/** Common members of cached values: answers, and vectors of texts (docs/api.md 31). */
export type Cached = { id: string; createdAt: number; content: string; resolvedMode: string; model: { id: string } }

/** A cached answer, with everything that later identical requests get. */
export type StoredAnswer = Cached &
  TokenDetails & {
    id: CompletionId
    /** The engine's reasoning before the answer. Empty if the engine does not report it. */
    reasoning: string
    model: ModelRef
    finish: FinishedBecause
    /** The text of `stop` that ended the answer. Absent if none did. */
    stoppedBy?: string | undefined
    fingerprint?: string | undefined
    logprobs?: AgentResult['logprobs']
    toolsUsed: ToolUse[]
    spoken?: AgentResult['spoken']
    /** Calls of the client's own functions (docs/api.md 4). */
    toolCalls: readonly ToolCall[]
    /** The engine's refusal, or why the content does not fit `response_format`. */
    refusal: string | null
    artifacts: Artifact[]
    followUps: FollowUp[]
    skillsActive: SkillActive[]
    structuredOutput: StructuredOutput | undefined
    routing: Routing
    warnings: string[]
    /** Guardrails that fired on the answer and its tools. Those of the request are checked again every time. */
    guardrails: readonly Firing[]
    promptTokens: number
    completionTokens: number
    /** Cents that its tools were charged by themselves. */
    toolCents: number
    /** The job that continues the work. Null for a complete answer. */
    job: JobHandle | null
  }

/** A cached answer with its owner, its expiry, and the members by which operators find and remove it. */
export type Entry = {
  readonly answer: Cached & Partial<Omit<StoredAnswer, keyof Cached>>
  /** `clock.monotonic()` at which it expires. */
  readonly until: number
  /** See `cacheScopeOf`. */
  readonly scope: string
  readonly owner: OwnerScope
  /** The key that paid for the answer. Null for a session. */
  readonly keyId: KeyId | null
  readonly promptHash: string
  /** Cost of the answer in micro-cents, which each hit saves. */
  readonly costMicro: number
  hits: number
}

export type NewEntry = Pick<Entry, 'answer' | 'scope' | 'owner' | 'keyId' | 'costMicro' | 'promptHash'> & {
  ttlS: number
}

/** A Redis that several nodes share, and the key that encrypts the answers in it. */
export type SharedAnswers = {
  masterKey: Uint8Array
  scripts: {
    run<T>(
      script: string,
      keys: readonly string[],
      values: (string | number)[],
      read: (answer: unknown) => T,
    ): Promise<T>
  }
}

type Options = { clock: Clock; maxBytes?: number; shared?: SharedAnswers | null }

/** Each entry begins with the marker of the last purge. Entries with an older marker are no longer found. */
const PURGED = 'svc:answers:purged'
const FETCH = `local word = (redis.call('GET', KEYS[1]) or '') .. ' '
local found = redis.call('GET', KEYS[2])
if not found or string.sub(found, 1, #word) ~= word then return false end
return {string.sub(found, #word + 1), redis.call('PTTL', KEYS[2])}`
const PUT = `return redis.call('SET', KEYS[2], (redis.call('GET', KEYS[1]) or '') .. ' ' .. ARGV[1], 'PX', ARGV[2])`
const PURGE = `return redis.call('SET', KEYS[1], ARGV[1])`
/** How long to wait before asking Redis again after a failure. Losing Redis only costs cache hits. */
const REST_MS = 1_000

const MAX_BYTES = 64 * 1024 * 1024
/** Shares of the cache that one scope and one answer may fill, so that no caller evicts all other answers. */
const [SCOPE_SHARE, ENTRY_SHARE] = [1 / 8, 1 / 64]

/** Estimated bytes of an answer in memory: two per character, a fixed overhead, and more for parsed JSON. */
function weightOf(answer: Entry['answer']): number {
  const { content, structuredOutput, toolsUsed = [], artifacts = [], warnings = [] } = answer
  const rest = toolsUsed.length + artifacts.length + warnings.length
  const parsed = structuredOutput ? 4 * content.length : 0
  return 1024 + 2 * content.length + parsed + (rest ? 2 * JSON.stringify([toolsUsed, artifacts, warnings]).length : 0)
}

/**
 * Answers by cache key (docs/api.md 22.1), each with a time to live. Bytes are limited in total and per scope. Also
 * tracks the runs in flight, so that identical requests wait for one run instead of paying twice.
 */
export function createAnswerCache({ clock, maxBytes = MAX_BYTES, shared = null }: Options) {
  const shares = createShares(Math.floor(maxBytes * SCOPE_SHARE))
  const entries = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    maxEntrySize: Math.floor(maxBytes * ENTRY_SHARE),
    sizeCalculation: ({ answer }) => weightOf(answer),
    dispose: ({ scope }, key) => shares.remove(scope, key),
  })
  const inFlight = new Map<string, Promise<StoredAnswer | null>>()
  const fetches = new Map<string, Promise<void>>()
  let restsUntil = Number.NEGATIVE_INFINITY
  /** Counts since this process started. Cost in micro-cents. */
  const tally = { hits: 0, misses: 0, savedMicro: 0 }

  return {
    /** The answer under this key, counted as a hit. Null when there is none or it has expired. */
    get<C extends Cached = StoredAnswer>(key: string): C | null {
      const entry = entries.get(key)
      if (!entry || entry.until <= clock.monotonic()) {
        entries.delete(key)
        return null
      }
      entry.hits++
      tally.hits++
      tally.savedMicro += entry.costMicro
      return entry.answer as C
    },

    put(key: string, { ttlS, ...entry }: NewEntry): void {
      if (ttlS <= 0) return
      if (keep(key, entry, ttlS * 1000) && shared)
        void readShared(PUT, key, [seal(shared.masterKey, key, JSON.stringify(entry)), ttlS * 1000])
    },

    /** Fetches an entry of another node, so that `get` finds it. Null at once if there is nothing to wait for. */
    look(key: string): Promise<void> | null {
      const known = entries.get(key)
      if (!shared || (known && known.until > clock.monotonic()) || clock.monotonic() < restsUntil) return null
      const under = fetches.get(key) ?? fetchShared(key, shared).finally(() => fetches.delete(key))
      fetches.set(key, under)
      return under
    },

    /** The run in flight under this key, if any. Resolves to null when the run fails. */
    pending(key: string): Promise<StoredAnswer | null> | undefined {
      const run = inFlight.get(key)
      if (run) tally.hits++
      return run
    },

    /** Counts a cache miss. */
    missed(): void {
      tally.misses++
    },

    /** Registers a run in flight. The returned function ends it, with its answer or with null for a failure. */
    lead(key: string): (answer: StoredAnswer | null) => void {
      const { promise, resolve } = Promise.withResolvers<StoredAnswer | null>()
      inFlight.set(key, promise)
      return (answer) => {
        if (inFlight.get(key) === promise) inFlight.delete(key)
        resolve(answer)
      }
    },

    /** The entries that have not expired, the most recently used first. */
    *all(): Generator<[key: string, entry: Entry]> {
      const now = clock.monotonic()
      for (const [key, entry] of entries.entries()) if (entry.until > now) yield [key, entry]
    },

    /**
     * Removes the entries that `chosen` accepts and returns their number. Removes all entries in Redis, because they
     * are encrypted and Redis cannot tell them apart.
     */
    purge(chosen: (entry: Entry) => boolean): number {
      if (shared) void readShared(PURGE, '', [randomBase62(16)])
      const doomed = [...entries.entries()].filter(([, entry]) => chosen(entry))
      for (const [key] of doomed) entries.delete(key)
      return doomed.length
    },

    bytes: () => entries.calculatedSize,
    maxBytes,
    tally: () => ({ ...tally }),
  }

  /** Returns false if the entry is too large. Evicts older entries of the scope if needed. */
  function keep(key: string, entry: Omit<Entry, 'until' | 'hits'>, ttlMs: number): boolean {
    entries.set(key, { ...entry, until: clock.monotonic() + ttlMs, hits: 0 })
    if (!entries.has(key)) return false
    for (const old of shares.add(entry.scope, key, weightOf(entry.answer))) entries.delete(old)
    return true
  }

  async function fetchShared(key: string, { masterKey }: SharedAnswers): Promise<void> {
    const found = (await readShared(FETCH, key, [])) as [sealed: string, leftMs: number] | null
    try {
      if (found) keep(key, JSON.parse(open(masterKey, key, found[0])), found[1])
    } catch {
      // Encrypted under another master key, as during a key rotation.
    }
  }

  async function readShared(script: string, key: string, values: (string | number)[]): Promise<unknown> {
    try {
      return await shared!.scripts.run(script, [PURGED, `svc:answer:${key}`], values, (answer) => answer)
    } catch {
      restsUntil = clock.monotonic() + REST_MS
      return null
    }
  }
}

export type AnswerCache = ReturnType<typeof createAnswerCache>

/** Counts the bytes of each scope's entries, oldest first. */
function createShares(max: number) {
  const scopes = new Map<string, { bytes: number; sizes: Map<string, number> }>()

  return {
    /** Adds an entry. Returns the keys of the oldest entries to evict so that the scope stays within its share. */
    add(scope: string, key: string, bytes: number): string[] {
      const share = scopes.getOrInsertComputed(scope, () => ({ bytes: 0, sizes: new Map<string, number>() }))
      share.sizes.set(key, bytes)
      share.bytes += bytes
      let over = share.bytes - max
      const old: string[] = []
      for (const [candidate, size] of share.sizes) {
        if (over <= 0 || candidate === key) break
        old.push(candidate)
        over -= size
      }
      return old
    },

    remove(scope: string, key: string): void {
      const share = scopes.get(scope)
      const bytes = share?.sizes.get(key)
      if (!share || bytes === undefined) return
      share.sizes.delete(key)
      share.bytes -= bytes
      if (share.sizes.size === 0) scopes.delete(scope)
    },
  }
}

/** A filter of cached answers. Every given member must match. */
export type CacheChoice = { owner?: OwnerScope | undefined; keyId?: KeyId | undefined; mode?: string | undefined }

export type CacheReading = ReturnType<typeof createCacheReading>

const isMeant = (entry: Entry, { owner, keyId, mode }: CacheChoice): boolean =>
  (owner === undefined || entry.owner === owner) &&
  (keyId === undefined || entry.keyId === keyId) &&
  (mode === undefined || entry.answer.resolvedMode === mode)

/** The operators' view of this process's answer cache. Never shows the text of a prompt or an answer. */
export function createCacheReading({ cache, clock, enabled }: { cache: AnswerCache; clock: Clock; enabled: boolean }) {
  return {
    /** Counts since the start of this process. Entries are grouped by resolved mode. */
    stats() {
      const { hits, misses, savedMicro } = cache.tally()
      const modes = new Map<string, { mode: string; entries: number; hits: number }>()
      let entries = 0
      for (const [, { answer, hits: used }] of cache.all()) {
        entries++
        const known = modes.getOrInsertComputed(answer.resolvedMode, (mode) => ({ mode, entries: 0, hits: 0 }))
        known.entries++
        known.hits += used
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

    /** The cached answers to exactly this prompt, of all callers that match the filter. */
    find(prompt: string, choice: CacheChoice) {
      const hash = sha256Hex(prompt)
      const found = [...cache.all()].filter(([, entry]) => entry.promptHash === hash && isMeant(entry, choice))
      return found.map(([, entry]) => present(entry))
    },

    /** Removes the chosen answers and returns their number. */
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
