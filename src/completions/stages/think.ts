import { toolsUnpaid } from '../../billing'
import { clientLeft, type Later, pollUrlOf } from '../../charging'
import type { EngineService } from '../../engines'
import type { Files } from '../../files'
import type { Clock } from '../../kernel/clock'
import { AppError, atField } from '../../kernel/errors'
import { ReaderLeft } from '../../kernel/stream'
import { captionOf, type VideoService } from '../../media'
import { type Findings, isNothingToRead, type ResearchService, type Stored } from '../../research'
import type { Agent } from '../agent-loop'
import type { Acting, AgentResult, Task } from '../agent-schema'
import { isStealth, requestTimeout, wantsJson, workOf } from '../rules'
import type { Run, Write } from '../run'
import { holdBackOf, researchUse } from './guard'
import type { createMoney } from './money'
import { BLOCKED, begin, OPENING_MS, show } from './show'

/** A thought that cost nothing and says nothing. */
export const EMPTY: Omit<AgentResult, 'engineId' | 'content'> = {
  free: false,
  promptTokens: 0,
  completionTokens: 0,
  reasoning: '',
  refusal: '',
  finish: 'stop',
  fallbackUsed: false,
  ttftMs: null,
  turns: [],
  toolUses: [],
  toolCalls: [],
  warnings: [],
}

type VideoDeps = { video: Pick<VideoService, 'later' | 'now'>; files: Pick<Files, 'receive'> }

/** Whether a run is to make a video. */
export const isVideo = ({ resolvedMode }: Run): boolean => workOf(resolvedMode) === 'video'

/** Only what `auto` chose becomes a job: a request that asks for a video itself waits for it (contract 2.4). */
export const isHandedOver = ({ request }: Run): boolean => request.mode === 'auto'

type ResearchDeps = { research: Pick<ResearchService, 'inquire' | 'later'>; clock: Clock }

/** How long `auto` waits for a research before it goes on as a job (contract 2.4). */
const HAND_OVER_MS = 60_000

const IN_AUTO = { depth: 'basic', maxSources: 5 } as const

const REQUESTED_FOR = { depth: 'advanced', maxSources: 10 } as const

type Deps = {
  agent: Agent
  engines: EngineService
  clock: Clock
  money: Pick<ReturnType<typeof createMoney>, 'afford'>
}

/** Runs the agent, whose steps a stream shows as they come. Throws what engines throw, and 402. */
export function createThink({ agent, engines, clock, money }: Deps) {
  return { think, partial }

  function think(run: Run): Promise<AgentResult> {
    return run.write ? shown(run, run.write) : agent.answer(taskOf(run))
  }

  async function shown(run: Run, write: Write): Promise<AgentResult> {
    run.held = holdBackOf(run)
    // An engine that fails before its first byte is answered with a status of its own (contract 3).
    const cancel = clock.after(OPENING_MS, () => void begin(run, write))
    try {
      return await agent.answer(taskOf(run), (step) => show(run, write, step))
    } catch (error) {
      if (error === BLOCKED) return partial(run, run.said)
      throw error
    } finally {
      cancel()
    }
  }

  /** The text and tool calls of a run that stopped early. The tokens of its last turn are our own count. */
  function partial({ engineId, promptTokens, spent }: Run, text: string): AgentResult {
    const half = text.slice(spent.said)
    const completionTokens = half ? engines.countTokens(half) : 0
    const broken = { engineId, free: engines.isFree(engineId), promptTokens, completionTokens }
    const turns = half || !spent.turns.length ? [...spent.turns, broken] : [...spent.turns]
    return {
      engineId,
      free: broken.free,
      promptTokens: turns.reduce((sum, turn) => sum + turn.promptTokens, 0),
      completionTokens: turns.reduce((sum, turn) => sum + turn.completionTokens, 0),
      content: text,
      reasoning: '',
      refusal: '',
      finish: 'stop',
      fallbackUsed: false,
      ttftMs: null,
      turns,
      toolUses: spent.uses,
      toolCalls: [],
      warnings: [],
    }
  }

  function taskOf(run: Run): Task {
    const { request } = run
    const work = workOf(run.resolvedMode)
    return {
      call: run.call,
      stealth: isStealth(request.mode),
      forVisitors: request.forVisitors ?? false,
      engineId: run.engineId,
      system: run.system,
      history: run.history,
      images: run.images,
      maxOutputTokens: run.maxOutputTokens,
      prompt: request.prompt,
      after: request.after,
      temperature: request.temperature,
      sampling: request.sampling,
      effort: request.reasoning?.effort,
      mode: work,
      json: request.json || wantsJson(work),
      signal: run.deadline.signal,
      acting: run.toolset && actingOf(run, run.toolset),
      offered: run.offered,
    }
  }

  function actingOf(run: Run, toolset: Acting['toolset']): Acting {
    const { call, request } = run
    return {
      toolset,
      call,
      spent: run.spent,
      maxIterations: request.maxIterations,
      ...(request.bounds ? { maxCalls: request.bounds.toolCalls } : {}),
      conversationId: run.attached,
      guard: run.guard,
      afford: (wanted) => money.afford(run, wanted),
      unpaid: () => toolsUnpaid(),
    }
  }
}

/** Why a run ended, in terms of its caller: the time was up, the client left, or the prompt is too long. */
export function explained(run: Run, error: unknown): unknown {
  if (run.deadline.timedOut()) return requestTimeout(run.write ? 600 : 120, run.request.mode)
  if (run.call.signal.aborted || error instanceof ReaderLeft) return clientLeft()
  const isTooLong = error instanceof AppError && error.kind === 'invalid' && error.param === 'prompt'
  return isTooLong && run.request.cameFrom ? atField(error, run.request.cameFrom.whole) : error
}

/**
 * How much a run may research; null for one that does not. What asks for tools, functions or JSON is for the agent, and
 * so is a question in a conversation that nobody named research: its words alone do not say what is meant.
 */
export function researchOf({ request, history, resolvedMode }: Run): Run['researchRun'] {
  const isPlain =
    !request.functions &&
    !request.json &&
    !request.checkJson &&
    !request.tools.length &&
    !request.sealed &&
    !request.bounds &&
    request.maxOutputTokens === undefined
  if (workOf(resolvedMode) !== 'research' || !isPlain || (request.mode === 'auto' && history.length)) return null
  return request.mode === 'auto' ? IN_AUTO : REQUESTED_FOR
}

/** Researches within a request, in the same way as `POST /research` (contract 2.4). */
export function createResearch({ research, clock }: ResearchDeps) {
  /** Null when there is nothing to read: then the engine answers from what it knows, and a warning says so. */
  return async function runResearch(run: Run): Promise<AgentResult | null> {
    if (!run.researchRun) return null
    const request = { prompt: run.request.prompt, ...run.researchRun }
    const memory: Stored = new Map()
    const handingOver = new AbortController()
    const disarm = run.request.mode === 'auto' ? clock.after(HAND_OVER_MS, () => handingOver.abort()) : () => undefined
    const signal = AbortSignal.any([run.deadline.signal, handingOver.signal])
    try {
      const found = await research.inquire(run.call, request, { memory, signal, guard: run.guard })
      return await shown(run, agentResultOf(run, found))
    } catch (error) {
      if (isNothingToRead(error)) {
        run.warnings = [...run.warnings, `There is no research report. ${error.message}`]
        return null
      }
      if (!handingOver.signal.aborted || run.deadline.signal.aborted) throw error
      return shown(
        run,
        handOver(run, await research.later(run.call, request, memory), 'This takes longer than a minute'),
      )
    } finally {
      disarm()
    }
  }
}

function agentResultOf(run: Run, found: Findings): AgentResult {
  const { report, turns, pages, warnings } = found
  const last = turns.at(-1)
  const engineId = last?.engineId ?? run.engineId
  const counted = turns.map((turn, at) => (at === turns.length - 1 ? { ...turn, pages } : turn))
  const sum = (of: 'promptTokens' | 'completionTokens') => turns.reduce((total, turn) => total + turn[of], 0)
  return {
    ...EMPTY,
    engineId,
    free: last?.free ?? true,
    promptTokens: sum('promptTokens'),
    completionTokens: sum('completionTokens'),
    content: report,
    turns: counted,
    toolUses: [researchUse(run, found)],
    warnings: warnings.slice(0, 20),
  }
}

/** Answers with a video, or with the job that makes it (contract 2.4). Throws what engines throw. */
export function createVideo({ video, files }: VideoDeps) {
  return async function film(run: Run): Promise<AgentResult> {
    const { prompt, mode, videoSeconds: seconds } = run.request
    const request = { prompt, seconds, mode: isStealth(mode) ? 'stealth_video' : 'video' } as const
    if (!isHandedOver(run)) return shown(run, await made(run, request))
    const result = handOver(run, await video.later(run.call, request), 'A video takes longer than an answer')
    return shown(run, { ...result, free: true })
  }

  async function made(run: Run, request: Parameters<VideoService['now']>[1]): Promise<AgentResult> {
    const { engineId, free, seconds, warnings, ...filmed } = await video.now(run.call, request, {
      signal: run.deadline.signal,
      async keep(source, mimeType) {
        const draft = await files.receive(source, mimeType)
        run.drafts.push(draft)
        return draft
      },
    })
    run.pictures = filmed.files
    run.warnings = [...run.warnings, ...warnings]
    const caption = captionOf(request.prompt)
    const content = free
      ? `A local animation of “${caption}”, drawn by rules without a video model. It lasts ${seconds} s.`
      : `Here is “${caption}”. It lasts ${seconds} s.`
    const turn = {
      engineId,
      free,
      promptTokens: 0,
      completionTokens: 0,
      seconds: Math.min(seconds, request.seconds ?? seconds),
    }
    return { ...EMPTY, engineId: run.engineId, free, content, turns: [turn] }
  }
}

/** Ends a run with a job that goes on with its work: it is put in line in the commit that ends the run. */
function handOver(run: Run, later: Later, why: string): AgentResult {
  run.later = later
  const content = `${why}, so it continues as job ${later.id}. Read its progress and result at ${pollUrlOf(later.id)}.`
  return { ...EMPTY, engineId: run.engineId, content }
}

/** Shows the content of a thought in a stream, as far as no rule objects to it: the policy is applied to the whole next. */
export async function shown(run: Run, result: AgentResult): Promise<AgentResult> {
  if (!run.write) return result
  run.held = holdBackOf(run)
  try {
    await show(run, run.write, { type: 'text', text: result.content })
  } catch (error) {
    if (error !== BLOCKED) throw error
  }
  return result
}
