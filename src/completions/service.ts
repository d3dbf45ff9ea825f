import type { AccessWatch, SettingsService } from '../accounts'
import type { BrandSoul } from '../accounts/keys/schema'
import type { AuditLog } from '../audit'
import type { Billing, Prices } from '../billing'
import type { BrowserService } from '../browser'
import { createHolds } from '../charging'
import { type EngineService, type MadeImage, originOf } from '../engines'
import type { EventBus } from '../events'
import type { Files } from '../files'
import type { GuardrailService } from '../guardrails'
import { type Call, type OwnerScope, ownerOf } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { sha256Hex } from '../kernel/crypto'
import type { KeyId } from '../kernel/ids'
import { microToCents } from '../kernel/money'
import type { Outbound } from '../kernel/outbound'
import type { Reader, Store } from '../kernel/store'
import type { Trace } from '../kernel/trace'
import type { RateLimiter } from '../limits'
import { captionOf, type MadePictures, type Pictures, pictureDescribed, type VideoService } from '../media'
import type { ResearchService } from '../research'
import type { Classifier, EffectiveRouting } from '../routing'
import type { ConversationService, MemoryService, SkillService } from '../skills'
import type { Tools } from '../tools'
import type { UsageLog } from '../usage'
import type { Agent } from './agent-loop'
import type { AgentResult } from './agent-schema'
import { type AnswerCache, createAnswerCache, type Entry } from './cache'
import type { CacheRules } from './config'
import { createPipeline, createStageTrace } from './pipeline'
import { assertOrder, isStealth } from './rules'
import type { Run, Write } from './run'
import { type CompletionRequest, requestFromOrder } from './run'
import type { ChatCompletion, Completion, CompletionInput } from './schema'
import { createDecide } from './stages/decide'
import { createFinish } from './stages/finish'
import { createInputGuard, guardOutput } from './stages/guard'
import { createMoney, createRecord, isPicture } from './stages/money'
import { createOpen } from './stages/open'
import { OPENING_MS, showRest } from './stages/show'
import { createResearch, createThink, createVideo, EMPTY, isVideo, shown } from './stages/think'
import { chatFramer, type Framer, nativeFramer } from './stream'

type ImageDeps = { pictures: Pictures; store: Store; files: Pick<Files, 'findRow' | 'read' | 'receive'> }

/** Larger pictures are described to an engine, and not sent. */
const MAX_BASE_BYTES = 20 * 1024 * 1024

/** A filter of cached answers; every member that is given must match. */
export type CacheChoice = { owner?: OwnerScope | undefined; keyId?: KeyId | undefined; mode?: string | undefined }

type CacheReadingDeps = { cache: AnswerCache; clock: Clock; enabled: boolean }

export type CacheReading = ReturnType<typeof createCacheReading>

const isMeant = (entry: Entry, { owner, keyId, mode }: CacheChoice): boolean =>
  (owner === undefined || entry.owner === owner) &&
  (keyId === undefined || entry.keyId === keyId) &&
  (mode === undefined || entry.answer.resolvedMode === mode)

type AdmitDeps = { limiter: RateLimiter; money: Pick<ReturnType<typeof createMoney>, 'reserve'> }

type Deps = {
  store: Store
  clock: Clock
  audit: AuditLog
  usage: UsageLog
  events: EventBus
  settings: SettingsService
  /** The brand soul of a key; null when it has none or it is off. */
  brandSoulOf(reader: Reader, keyId: KeyId): Promise<BrandSoul | null>
  limiter: RateLimiter
  billing: Billing
  prices: Prices
  engines: EngineService
  classifier: Classifier
  /** The callers' routing preferences (contract 13). */
  routing: Pick<EffectiveRouting, 'of' | 'ready'>
  browser: Pick<BrowserService, 'toolsFor' | 'toolsOfRun'>
  conversations: ConversationService
  agent: Agent
  tools: Tools
  skills: Pick<SkillService, 'activeFor'>
  guardrails: Pick<GuardrailService, 'guardOf'>
  memory: MemoryService
  research: Pick<ResearchService, 'inquire' | 'later' | 'max'>
  files: Pick<Files, 'receive' | 'add' | 'discard' | 'find' | 'findRow' | 'read'>
  pictures: Pictures
  video: Pick<VideoService, 'later' | 'now' | 'max'>
  outbound: Outbound
  caching: CacheRules
  /** Told of each stage of a run, for operators. */
  trace: Trace
  /** Ends streams whose caller's access ends. */
  access: Pick<AccessWatch, 'follow'>
  /** Aborts the remaining streams, with a reason, shortly before the shutdown grace period ends. */
  stopping: AbortSignal
}

/** A stream ready to be sent: what shows it part by part, and the format of its frames. */
export type AnswerStream = {
  source(write: Write): Promise<void>
  frame: Framer
  /** The frame to send after 10 s of silence; absent, an SSE comment is sent. */
  heartbeat?: (elapsedMs: number) => string
  endsWithDone: boolean
  openingMs: number
}

export type CompletionService = ReturnType<typeof createCompletions>

/** Builds the pipeline of completions and the verbs of `POST /completions`. */
export function createCompletions(deps: Deps) {
  const { clock, caching } = deps
  const cache = createAnswerCache({ clock, maxBytes: caching.maxBytes })
  const { record, refused } = createRecord(deps)
  const holds = createHolds(deps)
  const money = createMoney({ ...deps, holds })
  const { think, partial } = createThink({ ...deps, money })
  const research = createResearch(deps)
  const image = createImage(deps)
  const video = createVideo(deps)
  const stages = {
    open: createOpen({ ...deps, cacheEnabled: caching.enabled }),
    ...createAdmit({ ...deps, money }),
    assertCredit: money.assertCredit,
    priceOf: money.priceOf,
    guardInput: createInputGuard({ ...deps, refused }),
    decide: createDecide(deps),
    think(run: Run) {
      if (isPicture(run)) return image(run)
      if (isVideo(run)) return video(run)
      return run.researchRun ? research(run).then((found) => found ?? think(run)) : think(run)
    },
    guardOutput,
    showRest,
    ...createFinish({ ...deps, holds, record, partial, cache, ttlS: caching.ttlS }),
  }
  const pipeline = createPipeline(stages, cache, createStageTrace(deps))

  /** `POST /completions` (contract 2). `fresh` skips the look-up and renews the entry. */
  async function complete(call: Call, input: CompletionInput, fresh: boolean): Promise<Completion | ChatCompletion> {
    return pipeline.complete(call, await read(call, input, fresh))
  }

  /** The same as a stream (contract 3). Throws when the order is invalid; other refusals come from `source`. */
  async function stream(call: Call, input: CompletionInput, fresh: boolean): Promise<AnswerStream> {
    const request = await read(call, input, fresh)
    const source = (write: Write) => pipeline.stream(call, request, write)
    return input.format === 'compat'
      ? { source, frame: chatFramer(deps.clock, false), endsWithDone: true, openingMs: OPENING_MS }
      : { source, ...nativeFramer(), endsWithDone: false, openingMs: OPENING_MS }
  }

  async function read(
    call: Call,
    input: CompletionInput,
    fresh: boolean,
  ): Promise<CompletionRequest<Completion | ChatCompletion>> {
    assertOrder(input)
    return requestFromOrder(input, await deps.settings.read(deps.store.read, call.caller.userId), fresh)
  }

  const answers = createCacheReading({ cache, clock, enabled: caching.enabled })

  return { complete, stream, pipeline, answers }
}

/** The limits of a run: the rate of its mode, its tokens, and its money. */
function createAdmit({ limiter, money }: AdmitDeps) {
  return {
    /**
     * Counts the run towards the rate of its mode, once and as soon as the mode is known: of a mode that the caller
     * named before anything else (contract 1.5), of `auto` when it is decided or the cached answer found (contract 1.6).
     * Throws 429.
     */
    countMode(run: Run): void | Promise<void> {
      if (run.isCounted || run.resolvedMode === 'auto') return
      run.isCounted = true
      return limiter.admitMode(run.call.caller, run.resolvedMode)
    },

    /** Reserves tokens and then money. Throws 429, 503, 402. */
    async admit(run: Run): Promise<void> {
      run.ticket = await limiter.reserveTokens(run.call.caller, run.promptTokens, run.maxOutputTokens)
      try {
        await money.reserve(run)
      } catch (error) {
        run.ticket.correct(0)
        throw error
      }
    },
  }
}

/** The operators' view of this process's answer cache. Never shows the text of a prompt or an answer. */
function createCacheReading({ cache, clock, enabled }: CacheReadingDeps) {
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

/** Answers with a picture: a new one, or the one before it changed (contract 2.2). Throws what image engines throw. */
function createImage({ pictures, store, files }: ImageDeps) {
  return image

  async function image(run: Run): Promise<AgentResult> {
    const { request, call, deadline } = run
    // The prompts before this one whose answers were pictures, oldest first.
    const { prompt, changes } = pictureDescribed(
      request.prompt,
      run.history.flatMap((turn) => (turn.pictured && typeof turn.content === 'string' ? [turn.content] : [])),
    )
    const stealth = isStealth(request.mode)
    const made = await pictures(
      {
        prompt,
        changes,
        base: changes.length ? await pictureBefore(run) : null,
        ...request.picture,
        engineId: run.pictureEngineId,
        count: 1,
      },
      {
        signal: deadline.signal,
        origin: { ...originOf(call), stealth },
        async keep(source, mimeType) {
          const draft = await files.receive(source, mimeType)
          run.drafts.push(draft)
          return draft
        },
      },
    )
    const { engineId, free } = made
    const tokens = { promptTokens: 0, completionTokens: 0 }
    run.pictures = made.pictures.flatMap((one) =>
      one ? [stealth ? { ...one, about: { ...one.about, prompt: null } } : one] : [],
    )
    const content = captionFor(captionOf(prompt), changes, made)
    return shown(run, {
      ...EMPTY,
      engineId: run.engineId,
      free,
      content,
      fallbackUsed: engineId !== run.pictureEngineId,
      turns: [{ engineId, free, ...tokens, images: run.pictures.length }],
    })
  }

  /** The picture that is to change, if the conversation has it; the caller's own. */
  async function pictureBefore({ history, call }: Run): Promise<MadeImage | null> {
    const id = history.findLast(({ pictured }) => pictured)?.pictureId
    const row = id ? await files.findRow(store.read, ownerOf(call.caller), id) : undefined
    if (row?.type !== 'image' || row.size_bytes > MAX_BASE_BYTES) return null
    return { bytes: new Uint8Array(await new Response(await files.read(row)).arrayBuffer()), mimeType: row.mime_type }
  }
}

function captionFor(caption: string, changes: readonly string[], { free, unknown }: MadePictures): string {
  const shown = `“${caption}”${changes.length ? `, changed as you asked` : ''}`
  if (!free) return `Here is ${shown}.`
  const drawn = `A local illustration of ${shown}, drawn by rules without an image model.`
  return unknown.length ? `${drawn} It has no picture of: ${unknown.join(', ')}.` : drawn
}
