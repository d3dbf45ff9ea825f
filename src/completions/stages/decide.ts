import { assembleSystem, fitHistory, modeOfCall } from '../../agent'
import { type Choice, type Classifier, standIn } from '../../classifier'
import { ENGINES, type EngineService, engineUnable, originOf } from '../../engines'
import type { Clock } from '../../kernel/clock'
import type { Outbound } from '../../kernel/outbound'
import { isBlank } from '../../kernel/text'
import { changesPicture } from '../../media'
import { type EffectiveRouting, engineLeft, trialOf } from '../../routing-preferences'
import { readBrowsing } from '../../text'
import type { Tools } from '../../tools'
import type { Toolset } from '../../tools/schema'
import { promptTooLong } from '../errors'
import { IMAGE_ENGINE } from '../request'
import { approvedIn, isStealth, workOf } from '../rules'
import type { Run } from '../run'
import type { Routing } from '../schema'
import { hideImages, showImages } from './image-input'
import { inquiryOf } from './inquire'
import { bringServed, servedHere } from './served'

type Deps = {
  classifier: Classifier
  engines: EngineService
  tools: Tools
  outbound: Outbound
  clock: Clock
  routing: Pick<EffectiveRouting, 'ready'>
}

/** The share of the window that history may fill before older turns are summarized (contract 22.6). */
const HISTORY_SHARE = 0.6

const SEES_IMAGES = new Set(['vision', 'data_extraction', 'domain_analysis'])

/** Chooses mode, engine, system prompt and tools. Throws 400 for a prompt too long or attachments that are no images. */
export function createDecide({ classifier, engines, tools, outbound, clock, routing }: Deps) {
  return decide

  async function decide(run: Run): Promise<void> {
    const { request } = run
    const startedAt = clock.monotonic()
    const ready =
      run.guidance && routing.ready(run.guidance, request.prompt, trialOf({ ...run.call, signal: run.deadline.signal }))
    const guidance = ready instanceof Promise ? await ready : ready
    const chosen = followsPicture(run)
      ? AFTER_PICTURE
      : drivesBrowser(run)
        ? IN_BROWSER
        : classifier.decide({
            mode: workOf(request.mode),
            prompt: request.prompt,
            hasImages: request.images.length > 0,
            // Who makes videos is not chosen by the engine of the mode.
            answers: (mode) => mode === 'video' || engines.isConnected(engineFor(run, mode, null, engines)),
            origin: originOf(run.call),
            ...(request.answeredCalls ? { goesOn: { mode: modeOfCalls(request.answeredCalls) } } : {}),
            signal: run.deadline.signal,
            ...(guidance ? { guidance } : {}),
          })
    const choice = withoutJob(run, chosen instanceof Promise ? await chosen : chosen)
    if (request.mode === 'auto') run.classifiedMs = clock.monotonic() - startedAt
    const work = choice.mode
    const isMedia = work === 'image' || work === 'video'
    const wanted = engineFor(run, work, choice.engine, engines)
    // A rule is no reason for a 503 where the mode has an engine that answers.
    const engineId = engines.isConnected(wanted) ? wanted : engineFor(run, work, null, engines)
    const hasLeft = engineId !== wanted
    run.resolvedMode = isStealth(request.mode) ? request.mode : work
    run.engineId = engineId
    run.model = engines.describe(engineId)
    run.maxOutputTokens = isMedia ? 0 : engines.maxOutputTokens(engineId)
    run.pictureEngineId = request.picture?.engineId ?? IMAGE_ENGINE
    run.routing = routingOf(choice, hasLeft)
    if (hasLeft || guidance?.warnings.length)
      run.routingWarnings = [...(guidance?.warnings ?? []), ...(hasLeft ? [engineLeft(wanted, work)] : [])]
    run.inquiry = inquiryOf(run)
    const sees = SEES_IMAGES.has(work) || (request.images.length > 0 && engines.takesImages(engineId))
    run.offered = request.functions
    if (request.servers) await bringServed(run, request.servers, tools)
    assemble(run, work, sees)
    if (sees) await showImages(run, outbound)
    else {
      hideImages(run, outbound)
      // Without the images nothing is left of the question.
      if (request.images.length && isBlank(request.prompt)) throw engineUnable.with({ retryAfterS: 60 }, work, 'images')
    }
    run.warnings = [
      ...run.active.warnings,
      ...run.served.warnings,
      ...run.routingWarnings,
      ...(run.active.tools.length && !mayOffer(run, engines) ? [TOOLS_LEFT_OUT] : []),
      ...(sees || !request.images.length ? [] : [unseen(request, work, engineId)]),
    ]
  }

  /** A sealed run reaches nothing else, so it starts no job either: where `auto` chose a video, it answers with text. */
  function withoutJob(run: Run, choice: Choice): Choice {
    if (!run.request.sealed || run.request.mode !== 'auto' || choice.mode !== 'video') return choice
    const mode = standIn({ answers: (mode) => engines.isConnected(engineFor(run, mode, null, engines)) })
    return { ...choice, mode, source: 'default', confidence: null, reasoning: NO_JOB, engine: null }
  }

  /** What the engine gets with the prompt: the newest turns that fit its window and a summary of the older ones. */
  function assemble(run: Run, work: string, sees: boolean): void {
    const { request, soul, memories, active } = run
    const voice = assembleSystem({ ...request.voice, mode: work, soul, memories, skills: active.prompt })
    run.toolset = mayOffer(run, engines) ? toolsFor(run, work, tools) : null
    const window = engines.window(run.engineId)
    const fixed = countFixed(run, voice, engines) + (sees ? countImages(run, engines) : 0)
    const { turns, summary } = fitHistory(run.history, window * HISTORY_SHARE - fixed, engines.countPrompt)
    run.history = turns
    run.system = summary === null ? voice : [voice, summary].filter(Boolean).join('\n\n')
    run.promptTokens = fixed + engines.countPrompt(turns) + (summary === null ? 0 : engines.countTokens(summary))
    // An engine that is not connected has no window; asking it answers 503.
    if (window > 0 && run.promptTokens > window) throw promptTooLong(run.promptTokens, window, request.cameFrom?.whole)
    // Pictures are charged each and videos by their seconds, not by tokens (contract 2.2).
    if (work === 'image' || work === 'video') run.promptTokens = 0
  }
}

const MODES = ENGINES.map(({ mode }) => mode)

/** The mode of the run that made these calls; null when none of them is ours. */
const modeOfCalls = (ids: readonly string[]): string | null =>
  ids.map((id) => modeOfCall(id, MODES)).find((mode) => mode !== null) ?? null

/** In order of precedence: the engine named, an override, a routing rule's, a skill's, the mode's (contract 22.3). */
function engineFor({ request, active }: Run, work: string, ofRule: string | null, engines: EngineService): string {
  const { engine, overrides, mode } = request
  const override = (isStealth(mode) ? overrides[mode] : undefined) ?? overrides[work]
  return engines.canonical(engine ?? override ?? ofRule ?? active.modelPreference ?? engines.forMode(work))
}

const unseen = ({ cameFrom }: Run['request'], mode: string, engineId: string) =>
  cameFrom?.unseen(engineId) ?? `"attachments" were ignored: mode "${mode}" does not accept images. Use "vision".`

function routingOf({ source, confidence, reasoning, preferenceId }: Choice, hasLeft: boolean): Routing {
  return { source, confidence, reasoning, preference_id: preferenceId, fallback_used: hasLeft }
}

/** Modes that get the server's own tools even when the request brings none (contract 22.5). */
const ACTING_MODES = new Set(['think', 'code', 'research', 'domain_analysis'])

/** A client that runs the tool loop itself gets no server tools: it could not tell their calls from its own. */
function toolsFor(run: Run, mode: string, tools: Tools): Toolset | null {
  const { request, call, active, served, browserTools, inquiry } = run
  if (request.functions) return servedHere(run, tools)
  // Those that a skill may use are no reason to offer the others, too.
  const bound = request.browserSession ? browserTools.length : 0
  const brought = request.tools.length + active.tools.length + served.tools.length + bound > 0
  const system = !request.sealed && (brought || ACTING_MODES.has(mode))
  if (!system && !brought) return null
  const approved = approvedIn(request.metadata)
  const stealth = isStealth(request.mode)
  // A run in this mode writes the code itself; one that researches comes here when there is nothing to read.
  const without = mode === 'code' ? ['generate_code'] : inquiry ? ['deep_research'] : []
  const toolset = tools.assemble({
    inline: request.tools,
    skills: active.tools,
    system,
    stealth,
    bound: browserTools,
    brought: served.tools,
    without,
    approved,
    call,
  })
  return toolset.definitions.length ? toolset : null
}

const TOOLS_LEFT_OUT =
  'The tools of the active skills were left out, because the engine of this mode does not support tools.'

/** Tools that the request did not bring are not offered to an engine that calls none. */
const mayOffer = ({ request, engineId }: Run, engines: EngineService): boolean =>
  request.tools.length > 0 || request.servers !== undefined || engines.callsTools(engineId)

/** `auto` stays with the picture that the caller asks to change. */
const followsPicture = ({ request, history }: Run): boolean =>
  request.mode === 'auto' &&
  (history.findLast(({ role }) => role === 'user')?.pictured ?? false) &&
  changesPicture(request.prompt)

const AFTER_PICTURE: Choice = {
  mode: 'image',
  source: 'heuristic',
  confidence: 0.9,
  reasoning: 'asks to change the previous picture',
  engine: null,
  preferenceId: null,
}

const NO_JOB = 'asks for a video, which needs a job, and this request cannot start one'

/** `auto` works the page of a browser session where the prompt plainly asks for that (contract 16.4). */
const drivesBrowser = ({ request, browserTools }: Run): boolean =>
  request.mode === 'auto' && browserTools.length > 0 && readBrowsing(request.prompt) !== null

const IN_BROWSER: Choice = {
  ...AFTER_PICTURE,
  mode: 'think',
  reasoning: 'asks for something on the page of the browser session',
}

/** Tokens of everything but the history. */
function countFixed({ request, toolset, offered: client }: Run, system: string | null, engines: EngineService): number {
  const offered = [...(toolset?.definitions ?? []), ...(client?.tools ?? [])]
  return (
    engines.countPrompt(request.after) +
    engines.countTokens(request.prompt) +
    (system ? engines.countTokens(system) : 0) +
    (offered.length ? engines.countTokens(JSON.stringify(offered)) : 0)
  )
}

function countImages({ request }: Run, engines: EngineService): number {
  const parts = request.images.map(() => ({ type: 'image' as const, mimeType: '', base64: '' }))
  return parts.length ? engines.countPrompt([{ role: 'user', content: parts }]) : 0
}
