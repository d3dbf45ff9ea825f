import {
  ENGINES,
  type EngineService,
  engineUnable,
  type ImagePart,
  type Message,
  originOf,
  parametersIn,
} from '../../engines'
import { imageSize } from '../../files'
import type { Clock } from '../../kernel/clock'
import { AppError, atField, invalidInput, messageOf, quoted } from '../../kernel/errors'
import { type Outbound, OutboundFailure, type OutboundKind, type PublicResponse } from '../../kernel/outbound'
import { isBlank } from '../../kernel/text'
import { changesPicture } from '../../media'
import { type Choice, type Classifier, type EffectiveRouting, engineLeft, standIn, trialOf } from '../../routing'
import { readBrowsing } from '../../text'
import type { Tools } from '../../tools'
import type { McpServer, Toolset } from '../../tools/schema'
import { fitHistory } from '../agent-loop'
import { assembleSystem } from '../agent-sandbox'
import type { Image } from '../agent-schema'
import { modeOfCall } from '../agent-turn'
import { typeOfPicture } from '../pictures'
import { approvedIn, base64Of, inlineOf, isStealth, MAX_IMAGE_BYTES, promptTooLong, workOf } from '../rules'
import type { Run } from '../run'
import { IMAGE_ENGINE, type SentImage } from '../run'
import { researchOf } from './think'

const TIMEOUT_MS = 10_000

const WORDS: Record<Exclude<OutboundKind, 'aborted'>, string> = {
  dns: 'names a host that does not exist',
  connect: 'could not be reached',
  tls: 'has no valid certificate',
  timeout: 'did not answer within 10 s',
  reset: 'stopped in the middle of its answer',
  'too-large': 'is larger than 15 MiB',
}

const runsHere = ({ request }: Run, { name, requiresApproval }: Run['served']['tools'][number]): boolean =>
  !requiresApproval || approvedIn(request.metadata).includes(name)

/** Engines refuse a blank message; a turn that was nothing but an image is blank without it. */
const withoutBlank = (history: readonly Message[]): readonly Message[] =>
  history.filter(({ role, content }) => role !== 'user' || typeof content !== 'string' || content.trim())

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
    // The mode of the run that made these calls; null when none of them is ours.
    // `auto` stays with the picture that the caller asks to change.
    const chosen =
      run.request.mode === 'auto' &&
      (run.history.findLast(({ role }) => role === 'user')?.pictured ?? false) &&
      changesPicture(run.request.prompt)
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
              ...(request.answeredCalls
                ? {
                    goesOn: {
                      mode:
                        request.answeredCalls.map((id) => modeOfCall(id, MODES)).find((mode) => mode !== null) ?? null,
                    },
                  }
                : {}),
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
    run.maxOutputTokens = isMedia ? 0 : Math.min(engines.maxOutputTokens(engineId), request.maxOutputTokens ?? Infinity)
    run.pictureEngineId = request.picture?.engineId ?? IMAGE_ENGINE
    run.routing = {
      source: choice.source,
      confidence: choice.confidence,
      reasoning: choice.reasoning,
      preference_id: choice.preferenceId,
      fallback_used: hasLeft,
    }
    if (hasLeft || guidance?.warnings.length)
      run.routingWarnings = [...(guidance?.warnings ?? []), ...(hasLeft ? [engineLeft(wanted, work)] : [])]
    run.researchRun = researchOf(run)
    const sees = SEES_IMAGES.has(work) || (request.images.length > 0 && engines.takesImages(engineId))
    run.offered = request.functions
    if (request.servers) await bringServed(run, request.servers, tools)
    assemble(run, work, sees)
    if (sees) await showImages(run, outbound)
    else {
      // What an engine that sees no images is sent. Their URLs are checked all the same. Throws 400 `url_blocked`.
      for (const image of run.request.images) assertUrl(image, outbound)
      run.history = withoutBlank(run.history)
      // Without the images nothing is left of the question.
      if (request.images.length && isBlank(request.prompt)) throw engineUnable.with({ retryAfterS: 60 }, work, 'images')
    }
    run.warnings = [
      ...unsentIn(request, engines.parameters(engineId)),
      ...run.active.warnings,
      ...run.served.warnings,
      ...run.routingWarnings,
      ...(run.active.tools.length && !mayOffer(run, engines) ? [TOOLS_LEFT_OUT] : []),
      ...(sees || !request.images.length
        ? []
        : [
            request.cameFrom?.unseen(engineId) ??
              `"attachments" were ignored: mode "${work}" does not accept images. Use "vision".`,
          ]),
    ]
  }

  /**
   * A sealed run reaches nothing else, so it starts no job either: where `auto` chose a video, it answers with text. So
   * does an order with functions, a JSON form or an output limit, which only text can keep (contract 29.1).
   */
  function withoutJob(run: Run, choice: Choice): Choice {
    const { request } = run
    if (request.mode !== 'auto') return choice
    const isText = request.functions !== null || request.json !== false || request.maxOutputTokens !== undefined
    const isMade = choice.mode === 'video' || (isText && choice.mode === 'image')
    if (!isMade || !(isText || request.sealed)) return choice
    const mode = standIn({ answers: (mode) => engines.isConnected(engineFor(run, mode, null, engines)) })
    return { ...choice, mode, source: 'default', confidence: null, reasoning: isText ? NO_TEXT : NO_JOB, engine: null }
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
    if (window > 0 && run.promptTokens > window) throw promptTooLong(run.promptTokens, window, request)
    // Pictures are charged each and videos by their seconds, not by tokens (contract 2.2).
    if (work === 'image' || work === 'video') run.promptTokens = 0
  }
}

const MODES = ENGINES.map(({ mode }) => mode)

/** In order of precedence: the engine named, an override, a routing rule's, a skill's, the mode's (contract 22.3). */
function engineFor({ request, active }: Run, work: string, ofRule: string | null, engines: EngineService): string {
  const { engine, overrides, mode } = request
  const override = (isStealth(mode) ? overrides[mode] : undefined) ?? overrides[work]
  return engines.canonical(engine ?? override ?? ofRule ?? active.modelPreference ?? engines.forMode(work))
}

/** Modes that get the server's own tools even when the request brings none (contract 22.5). */
const ACTING_MODES = new Set(['think', 'code', 'research', 'domain_analysis'])

/** A client that runs the tool loop itself gets no server tools: it could not tell their calls from its own. */
function toolsFor(run: Run, mode: string, tools: Tools): Toolset | null {
  const { request, call, active, served, browserTools, researchRun: research } = run
  if (request.functions) return servedHere(run, tools)
  // Those that a skill may use are no reason to offer the others, too.
  const bound = request.browserSession ? browserTools.length : 0
  const brought = request.tools.length + active.tools.length + served.tools.length + bound > 0
  const system = !request.sealed && (brought || ACTING_MODES.has(mode))
  if (!system && !brought) return null
  const approved = approvedIn(request.metadata)
  const stealth = isStealth(request.mode)
  // A run in this mode writes the code itself; one that researches comes here when there is nothing to read.
  const without = mode === 'code' ? ['generate_code'] : research ? ['deep_research'] : []
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

const AFTER_PICTURE: Choice = {
  mode: 'image',
  source: 'heuristic',
  confidence: 0.9,
  reasoning: 'asks to change the previous picture',
  engine: null,
  preferenceId: null,
}

const NO_TEXT = 'asks for a picture or a video, and this request can only be answered with text'

/** Names the parameters that the engine does not have (contract 29.3). */
function unsentIn({ sampling, reasoning }: Run['request'], sent: readonly string[]): string[] {
  // The service itself ends an answer at a text of `stop`.
  const unsent = parametersIn({ sampling, effort: reasoning?.effort }).filter(
    (name) => name !== 'stop' && !sent.includes(name),
  )
  return unsent.length ? [`Ignored, because the engine does not have these settings: ${unsent.join(', ')}.`] : []
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

/**
 * Puts into the run what the engine sees: the images of the prompt, and those of other turns and of tool results in
 * their places. Throws like {@link loadImages}.
 */
async function showImages(run: Run, outbound: Outbound): Promise<void> {
  const { request, deadline, history } = run
  const first = request.context.length - history.length
  const wanted = request.images.filter(({ turn }) => turn === null || turn >= first)
  const loaded = await loadImages(wanted, outbound, deadline.signal)
  const of = (turn: number | null) => loaded.filter((_, place) => wanted[place]!.turn === turn)
  run.images = of(null)
  run.history = withoutBlank(history.map((turn, at) => withImages(turn, of(first + at))))
  const after = request.after.map((turn, at) => withImages(turn, of(request.context.length + at)))
  if (after.length) run.request = { ...request, after }
}

function withImages(turn: Message, images: readonly Image[]): Message {
  const parts = images.map((image): ImagePart => ({ type: 'image', ...image }))
  if (images.length && turn.role === 'tool') return { ...turn, images: parts }
  if (!images.length || turn.role !== 'user' || typeof turn.content !== 'string') return turn
  return { ...turn, content: turn.content.trim() ? [...parts, { type: 'text', text: turn.content }] : parts }
}

/**
 * Asks the MCP servers of a request for their tools (contract 28.2). In a chat, those that nobody approved join the
 * functions of the client. Throws 400 `validation_error` when a call is demanded that no tool can answer.
 */
async function bringServed(run: Run, servers: readonly McpServer[], tools: Tools): Promise<void> {
  const { functions, tools: inline } = run.request
  const taken = new Set([...inline, ...(functions?.tools ?? [])].map(({ name }) => name))
  run.served = await tools.servers.bring(servers, { taken, guard: run.guard, signal: run.deadline.signal })
  if (!functions) return
  const { choice, only } = functions
  if (choice === 'required' && run.served.unreachable === servers.length)
    throw invalidInput('tools', '"tool_choice" is "required", and none of the MCP servers in "tools" could be reached.')
  if (only) run.served = { ...run.served, tools: run.served.tools.filter(({ name }) => only.includes(name)) }
  const requests = run.served.tools.filter((tool) => !runsHere(run, tool))
  const definitions = requests.map(({ name, description, inputSchema }) => ({
    name,
    description,
    parameters: inputSchema,
  }))
  const offered = [...functions.tools, ...definitions]
  const names = [...functions.tools, ...run.served.tools].map(({ name }) => name)
  if (typeof choice !== 'string' && !names.includes(choice.name))
    throw invalidInput(
      'tool_choice',
      `"tool_choice" names ${messageOf(choice.name)}, which is not among the tools that could be offered.`,
    )
  if (choice === 'required' && !names.length)
    throw invalidInput(
      'tool_choice',
      '"tool_choice" is "required", and the MCP servers in "tools" have no tools that may be called.',
    )
  run.offered = names.length ? { ...functions, tools: offered } : null
}

/** The tools of MCP servers that run here beside a client's functions; null without any. */
function servedHere(run: Run, tools: Tools): Toolset | null {
  const brought = run.served.tools.filter((tool) => runsHere(run, tool))
  if (!brought.length) return null
  const { call, request } = run
  return tools.assemble({
    inline: [],
    skills: [],
    system: false,
    brought,
    approved: approvedIn(request.metadata),
    call,
  })
}

/**
 * The images as data, in their order, each with the type that its bytes are. URLs are fetched here through the SSRF
 * guard (15 MiB and 10 s each), so that no engine fetches URLs for callers; the type they are served as is not read. Throws 400 `url_blocked`, `validation_error`.
 */
function loadImages(images: readonly SentImage[], outbound: Outbound, signal: AbortSignal): Promise<Image[]> {
  return Promise.all(images.map(load))

  async function load({ attachment, path }: SentImage): Promise<Image> {
    if (attachment.type === 'image_base64') return read(base64Of(attachment.data), path)
    const inline = inlineOf(attachment.url)
    if (inline !== null) return read(inline, path)
    const { status, body } = await fetchFrom(attachment.url, path)
    if (status !== 200 || !imageSize(body)) {
      throw invalidInput(path, `${quoted(attachment.url)} did not answer with a PNG, JPEG, WebP or GIF image.`)
    }
    const bytes = Buffer.from(body)
    return { mimeType: typeOfPicture(bytes, path), base64: bytes.toString('base64') }
  }

  function read(base64: string, path: string): Image {
    return { mimeType: typeOfPicture(Buffer.from(base64, 'base64'), path), base64 }
  }

  async function fetchFrom(url: string, path: string): Promise<PublicResponse> {
    try {
      return await outbound.fetchPublic(url, { maxBytes: MAX_IMAGE_BYTES, timeoutMs: TIMEOUT_MS, signal })
    } catch (error) {
      if (error instanceof AppError && error.code === 'url_blocked') throw atField(error, path)
      if (error instanceof AppError || !(error instanceof OutboundFailure) || error.kind === 'aborted') throw error
      throw invalidInput(path, `${quoted(url)} ${WORDS[error.kind]}.`)
    }
  }
}

/** Checks the URL of an image that is not fetched. Throws 400 `url_blocked`. */
function assertUrl({ attachment, path }: SentImage, outbound: Pick<Outbound, 'readUrl'>): void {
  if (attachment.type === 'image_base64' || inlineOf(attachment.url) !== null) return
  try {
    outbound.readUrl(attachment.url)
  } catch (error) {
    throw error instanceof AppError ? atField(error, path) : error
  }
}
