import type { Prices } from '../billing'
import { payerOf } from '../billing/schema'
import type { EngineService } from '../engines'
import { type Call, ownerOf } from '../kernel/caller'
import { Deadline } from '../kernel/clock'
import { AppError, invalidInput, messageOf, renamed } from '../kernel/errors'
import { failpoint } from '../kernel/failpoint'
import { Pieces } from '../kernel/text'
import { NO_SKILLS } from '../skills'
import { ConversationId } from '../skills/conversations/schema'
import type { CountedTurn } from './agent-schema'
import { cacheKeyOf } from './cache'
import { completionErrors, isHandedOver, isStealth, workOf } from './rules'
import { type CompletionRequest, type PipelineDeps, type Run, UNDECIDED, type Write } from './run'
import { CompletionId } from './schema'

const NOTHING: readonly string[] = []
const NO_SERVERS = { tools: [], warnings: NOTHING, unreachable: 0 }
const PLAIN_TIMEOUT_MS = 120_000
const STREAM_TIMEOUT_MS = 600_000

/**
 * Creates the run of a request, with its deadline and its context (conversation, memories, skills, policies). Returns a
 * promise if some of that has to be read. Throws 400 for unknown modes and engines, 404 `not_found` for another owner's
 * conversation.
 */
export function openRun(
  deps: PipelineDeps,
  call: Call,
  request: CompletionRequest,
  write: Write | null,
): Run | Promise<Run> {
  const { conversations, store, skills, routing, guardrails, memory, tools } = deps
  assertEngines(request, deps.engines)
  if (request.tools.length) tools.assertInline(request.tools)
  if (request.servers) {
    try {
      tools.servers.assertServers(request.servers, request.serversAt)
    } catch (error) {
      throw error instanceof AppError && request.serverNames ? renamed(error, request.serverNames) : error
    }
  }
  const { caller } = call
  const { prompt, conversation } = request
  // Raw output gets no memories, and stealth modes neither store nor recall (docs/api.md 2.1).
  const recalls = !request.sealed && request.voice.persona !== 'none' && !isStealth(request.mode)
  const found: Perhaps<Here> = [
    typeof conversation === 'object' ? conversations.history(ownerOf(caller), conversation.attach) : null,
    // The caller states if the key has a brand soul, so calls without one need no query.
    request.usesSoul && caller.type === 'key' && caller.hasBrandSoul
      ? deps.brandSoulOf(store.read, caller.keyId)
      : null,
    recalls ? memory.recall(caller, prompt) : NOTHING,
    request.active ?? (request.sealed ? NO_SKILLS : skills.activeFor(call, { slugs: request.skills, prompt })),
    request.mode === 'auto' ? routing.of(caller) : null,
    guardrails.guardOf(caller),
  ]
  return found.some((one) => one instanceof Promise)
    ? Promise.all(found).then((all) => runOf(deps, call, request, write, all))
    : runOf(deps, call, request, write, found as Here)
}

/** Data that is read for a run: conversation, brand soul, memories, skills, routing preferences, guardrails. */
type Here = [
  Awaited<ReturnType<PipelineDeps['conversations']['history']>> | null,
  Run['soul'],
  Run['memories'],
  Run['active'],
  Run['guidance'],
  Run['guard'],
]

type Perhaps<All> = { [Place in keyof All]: All[Place] | Promise<All[Place]> }

function runOf(deps: PipelineDeps, call: Call, request: CompletionRequest, write: Write | null, here: Here) {
  const stealth = isStealth(request.mode)
  // The browser tools of the session that the request names, or of one that a permitted skill starts (docs/api.md
  // 16.4). Visitors who talk to the owner's AI cannot start one at the owner's cost.
  if (request.browserSession)
    return deps.browser
      .toolsFor(call, request.browserSession, stealth)
      .then((tools) => newRun(deps, call, request, write, here, { tools, end: undefined }))
  return here[3].mayBrowse && !request.active
    ? newRun(deps, call, request, write, here, deps.browser.toolsOfRun(call, stealth))
    : newRun(deps, call, request, write, here, NO_BROWSER)
}

type Browsing = { tools: Run['browserTools']; end: (() => void) | undefined }

const NO_BROWSER: Browsing = { tools: [], end: undefined }

function newRun(
  deps: PipelineDeps,
  call: Call,
  request: CompletionRequest,
  write: Write | null,
  [stored, soul, memories, active, guidance, guard]: Here,
  browsing: Browsing,
): Run {
  const { clock, engines } = deps
  const inContext = typeof request.conversation === 'object' && request.conversation.inContext
  const isCacheable = deps.caching.enabled && request.cache !== 'off' && !browsing.end && !request.servers
  return {
    id: CompletionId.create(),
    call,
    request,
    write,
    startedAt: clock.monotonic(),
    deadline: write
      ? startStreamDeadline(deps, call, browsing.end)
      : new Deadline(clock, [call.signal], PLAIN_TIMEOUT_MS, browsing.end),
    stage: null,
    stageAt: 0,
    history: stored && !inContext ? [...stored.turns, ...request.context] : request.context,
    attached: stored?.id ?? null,
    conversationId: stored?.id ?? (request.conversation === 'new' ? ConversationId.create() : null),
    cacheKey: isCacheable
      ? cacheKeyOf(call, request, {
          ...{ soul, memories, active, engines: engines.fingerprint },
          ...{ policy: guard?.fingerprint ?? null, routing: guidance?.fingerprint ?? null },
        })
      : null,
    soul,
    memories,
    guidance,
    browserTools: browsing.tools,
    active,
    served: NO_SERVERS,
    offered: request.functions,
    guard,
    resolvedMode: request.mode,
    isCounted: request.accepted !== undefined,
    engineId: '',
    model: UNDECIDED.model,
    routing: UNDECIDED.routing,
    routingWarnings: NOTHING,
    classifiedMs: null,
    images: [],
    system: null,
    warnings: NOTHING,
    toolset: null,
    promptTokens: 0,
    maxOutputTokens: 0,
    researchRun: null,
    pictureEngineId: '',
    hold: null,
    ticket: null,
    spent: { turns: [], toolUses: [], textLength: 0 },
    hasBegun: false,
    said: new Pieces(),
    held: null,
    untold: request.sampling?.logprobs === undefined ? null : [],
    later: null,
    drafts: [],
    pictures: [],
    costMicro: 0,
    isCached: false,
  }
}

/** A stream also ends when the server stops or the caller's access ends. */
function startStreamDeadline({ access, clock, stopping }: PipelineDeps, { caller, signal }: Call, atEnd?: () => void) {
  const allowed = access.follow(caller)
  return new Deadline(clock, [signal, stopping, allowed.signal], STREAM_TIMEOUT_MS, () => {
    allowed.end()
    atEnd?.()
  })
}

function assertEngines({ engine, overrides }: CompletionRequest, engines: EngineService): void {
  for (const mode in overrides) {
    const path = `model_overrides.${mode.slice(0, 64)}`
    if (!engines.knowsMode(mode))
      throw invalidInput(path, `"${path}" is not a mode of this server. GET /models lists the modes.`)
    assertEngine(engines, path, overrides[mode]!)
  }
  if (engine !== null) assertEngine(engines, 'stealth_model', engine)
}

function assertEngine(engines: EngineService, path: string, id: string): void {
  if (engines.has(id)) return
  throw invalidInput(path, `"${path}" is ${messageOf(id)}, which is not an engine. GET /models lists them.`)
}

type TurnTokens = { promptTokens: number; completionTokens: number }

/** Cost of turns in micro-cents, each at the price of the engine that answered. */
export function costOfTurns(prices: Prices, turns: readonly CountedTurn[]): number {
  let sum = 0
  for (const turn of turns) if (!turn.free) sum += prices.costOf(turn.engineId, turn)
  return sum
}

/**
 * Counts the run in the rate limit of its mode, once and as soon as the mode is known. For a mode that the caller
 * named, this comes before anything else (docs/api.md 1.5). For `auto`, it comes when the mode is decided or the cached
 * answer is found (docs/api.md 1.6). Throws 429.
 */
export function countMode({ limiter }: PipelineDeps, run: Run): void | Promise<void> {
  if (run.isCounted || run.resolvedMode === 'auto') return
  run.isCounted = true
  return limiter.admitMode(run.call.caller, run.resolvedMode)
}

/**
 * Reserves tokens, and holds the maximum price of the answer. For a free answer, only checks the balance. Before a
 * stream, and while writes fail, waits until the hold is on disk. Otherwise the answer could be sent, or the engine
 * called, without a record. Throws 429, 503 `storage_unavailable`, 402.
 */
export async function admit(deps: PipelineDeps, run: Run): Promise<void> {
  const { store, billing } = deps
  const counting = countMode(deps, run)
  if (counting) await counting
  const ticket = deps.limiter.reserveTokens(run.call.caller, run.promptTokens, run.maxOutputTokens)
  run.ticket = ticket instanceof Promise ? await ticket : ticket
  try {
    const amount = priceOf(deps, run)
    if (run.request.accepted) {
      run.hold = run.request.accepted.hold
      return
    }
    const surely = run.write !== null || store.failing()
    if (amount > 0) {
      const placing = deps.holds.place(run.call.caller, run.call.requestId, amount, surely)
      run.hold = placing instanceof Promise ? await placing : placing
    } else {
      await billing.assertFunds(store.read, run.call)
      if (surely) await store.confirm()
    }
  } catch (error) {
    run.ticket.correct(0)
    throw error
  }
}

/** The maximum price of the answer, in micro-cents. A job holds its own price. Throws 402 beyond the run's limit. */
export function priceOf(deps: PipelineDeps, run: Run): number {
  const { engines, prices } = deps
  const work = workOf(run.resolvedMode)
  if (work === 'image')
    return within(
      run.request,
      engines.drawsItself(run.pictureEngineId) ? 0 : prices.costOf(run.pictureEngineId, { images: 1 }),
    )
  if (work === 'video')
    return isHandedOver(run) ? 0 : within(run.request, deps.video.max({ seconds: run.request.videoSeconds }))
  if (engines.isFree(run.engineId)) return 0
  if (run.request.bounds) {
    const remaining = run.request.bounds.costMicro - prices.costOf(run.engineId, { promptTokens: run.promptTokens })
    const tokens = tokensFor(prices, run.engineId, remaining, run.maxOutputTokens)
    if (tokens === 0) throw completionErrors.overBounds()
    run.maxOutputTokens = tokens
  }
  const { engineId, promptTokens, maxOutputTokens: completionTokens, researchRun } = run
  const price = prices.costOf(engineId, { promptTokens, completionTokens })
  if (!researchRun) return price
  return Math.max(price, prices.costOf(engineId, deps.research.max(researchRun.depth, researchRun.maxSources)))
}

function within({ bounds }: Run['request'], price: number): number {
  if (bounds && price > bounds.costMicro) throw completionErrors.overBounds()
  return price
}

/**
 * Output tokens that the credit covers in one more turn, at most the wanted number. The hold covers the first turn and
 * is extended to cover this one too. If that fails, returns what the rest of the hold covers.
 */
export async function reserveTurn(deps: PipelineDeps, run: Run, wanted: TurnTokens): Promise<number> {
  if (!run.hold) return wanted.completionTokens
  const { engineId } = run
  const { prices } = deps
  const spent = costOfTurns(prices, run.spent.turns)
  const forPrompt = prices.costOf(engineId, { promptTokens: wanted.promptTokens })
  const max = (run.request.bounds?.costMicro ?? Infinity) - spent - forPrompt
  const tokens = Number.isFinite(max)
    ? tokensFor(prices, engineId, max, wanted.completionTokens)
    : wanted.completionTokens
  const lacking = spent + prices.costOf(engineId, { ...wanted, completionTokens: tokens }) - run.hold.amount
  if (lacking <= 0 || (await grow(deps, run, lacking))) return tokens
  return tokensFor(prices, engineId, run.hold.amount - spent - forPrompt, tokens)
}

async function grow({ billing }: PipelineDeps, run: Run, more: number): Promise<boolean> {
  const hold = run.hold!
  try {
    run.hold = await billing.grow(hold, payerOf(run.call.caller).caps, more)
    failpoint('hold_grown_before_turn')
    return true
  } catch (error) {
    if (error instanceof AppError && error.kind === 'unpaid') return false
    throw error
  }
}

/** Output tokens that `micro` micro-cents buy, at most `max`. */
function tokensFor(prices: Prices, engineId: string, micro: number, max: number): number {
  const thousand = prices.costOf(engineId, { completionTokens: 1_000 })
  return thousand === 0 ? max : Math.max(0, Math.min(max, Math.floor((micro * 1_000) / thousand)))
}
