import type { Agent } from '../agent'
import type { AuditLog } from '../audit'
import type { AccessWatch } from '../auth'
import type { Billing, Prices } from '../billing'
import type { BrowserService } from '../browser'
import type { Classifier } from '../classifier'
import type { ConversationService, MemoryService } from '../conversations'
import type { EngineService } from '../engines'
import type { EventBus } from '../events'
import type { Files } from '../files'
import type { GuardrailService } from '../guardrails'
import type { Call } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { KeyId } from '../kernel/ids'
import type { Outbound } from '../kernel/outbound'
import type { Reader, Store } from '../kernel/store'
import type { Trace } from '../kernel/trace'
import type { BrandSoul } from '../keys/schema'
import { createHolds } from '../making'
import type { Pictures, VideoService } from '../media'
import type { RateLimiter } from '../rate-limits'
import type { ResearchService } from '../research'
import type { EffectiveRouting } from '../routing-preferences'
import type { SettingsService } from '../settings'
import type { SkillService } from '../skills'
import type { Tools } from '../tools'
import type { UsageLog } from '../usage'
import { createAnswerCache } from './cache'
import { createCacheReading } from './cache-reading'
import type { CacheRules } from './config'
import { createPipeline } from './pipeline'
import { type CompletionRequest, requestFromOrder } from './request'
import { assertOrder } from './rules'
import type { Run, Write } from './run'
import type { ChatCompletion, Completion, CompletionOrder } from './schema'
import { createStageTrace } from './stage-trace'
import { createAdmit } from './stages/admit'
import { createDecide } from './stages/decide'
import { createFilm, isFilm } from './stages/film'
import { createFinish } from './stages/finish'
import { guardOutput } from './stages/guard'
import { createInputGuard } from './stages/guard-input'
import { createInquire } from './stages/inquire'
import { createMoney, isPicture } from './stages/money'
import { createOpen } from './stages/open'
import { createPaint } from './stages/paint'
import { createRecord } from './stages/record'
import { OPENING_MS, showRest } from './stages/show'
import { createThink } from './stages/think'
import { chatFramer, type Framer, nativeFramer } from './stream'

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
  research: Pick<ResearchService, 'inquire' | 'later' | 'most'>
  files: Pick<Files, 'receive' | 'add' | 'discard' | 'find' | 'findRow' | 'read'>
  pictures: Pictures
  video: Pick<VideoService, 'later' | 'now' | 'most'>
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
  const inquire = createInquire(deps)
  const paint = createPaint(deps)
  const film = createFilm(deps)
  const stages = {
    open: createOpen({ ...deps, cacheEnabled: caching.enabled }),
    ...createAdmit({ ...deps, money }),
    assertCredit: money.assertCredit,
    guardInput: createInputGuard({ ...deps, refused }),
    decide: createDecide(deps),
    think(run: Run) {
      if (isPicture(run)) return paint(run)
      if (isFilm(run)) return film(run)
      return run.inquiry ? inquire(run).then((found) => found ?? think(run)) : think(run)
    },
    guardOutput,
    showRest,
    ...createFinish({ ...deps, holds, record, partial, cache, ttlS: caching.ttlS }),
  }
  const pipeline = createPipeline(stages, cache, createStageTrace(deps))

  /** `POST /completions` (contract 2). `fresh` skips the look-up and renews the entry. */
  async function complete(call: Call, order: CompletionOrder, fresh: boolean): Promise<Completion | ChatCompletion> {
    return pipeline.complete(call, await read(call, order, fresh))
  }

  /** The same as a stream (contract 3). Throws when the order is invalid; other refusals come from `source`. */
  async function stream(call: Call, order: CompletionOrder, fresh: boolean): Promise<AnswerStream> {
    const request = await read(call, order, fresh)
    const source = (write: Write) => pipeline.stream(call, request, write)
    return order.format === 'compat'
      ? { source, frame: chatFramer(deps.clock, false), endsWithDone: true, openingMs: OPENING_MS }
      : { source, ...nativeFramer(), endsWithDone: false, openingMs: OPENING_MS }
  }

  async function read(
    call: Call,
    order: CompletionOrder,
    fresh: boolean,
  ): Promise<CompletionRequest<Completion | ChatCompletion>> {
    assertOrder(order)
    return requestFromOrder(order, await deps.settings.read(deps.store.read, call.caller.userId), fresh)
  }

  const answers = createCacheReading({ cache, clock, enabled: caching.enabled })

  return { complete, stream, pipeline, answers }
}
