import { billingErrors } from '../billing'
import type { TokenLogprob } from '../engines'
import type { HoldBack } from '../guardrails'
import type { AgentResult, Step, Task, ToolAccess } from './agent-schema'
import { answerOnce } from './agent-turn'
import { partial } from './end'
import { holdBackOf } from './guard'
import { answerWithPicture, answerWithResearch, answerWithVideo } from './media-modes'
import { reserveTurn } from './open'
import { isStealth, wantsJson, workOf } from './rules'
import type { PipelineDeps, Run, Write } from './run'

/** How long a stream waits for the engine's first byte before it begins without it (docs/api.md 3). */
export const OPENING_MS = 10_000

/** Thrown to end the engine call of a streamed answer that a rule blocked. */
const BLOCKED = new Error('a guardrail blocked the answer')

type SpokenStep = Extract<Step, { type: 'text' | 'refusal' }>

/** Sends `began` to the reader of a stream. Later calls do nothing. */
function begin(run: Run, write: Write): void | Promise<void> {
  if (run.hasBegun) return
  run.hasBegun = true
  return write({ type: 'began', run, id: run.id })
}

/**
 * Sends a step of a streamed answer as it arrives. Text that a rule may still change or block is held back. With a
 * policy, calls wait for the end, and reasoning is not sent.
 */
function show(run: Run, write: Write, step: Step): void | Promise<void> {
  if (run.guard && (step.type === 'call' || step.type === 'reasoning')) return
  if (!run.hasBegun) void begin(run, write)
  if (step.type !== 'text' && step.type !== 'refusal') return write(step)
  run.said.add(step.text)
  return run.held ? showHeld(run, run.held, write, step) : write(step)
}

async function showHeld(run: Run, held: HoldBack, write: Write, step: SpokenStep): Promise<void> {
  run.untold?.push({ text: step.text, logprobs: ('logprobs' in step && step.logprobs) || [] })
  const text = await held.add(step.text)
  if (text) await write({ type: 'text', text, ...likelihoodOf(run, text) })
  if (held.blocked()) throw BLOCKED
}

/**
 * Log probabilities of held-back text that is sent now, for pieces that are sent whole. None after the first word that
 * a rule changed (docs/api.md 33.2). Takes linear time.
 */
function likelihoodOf(run: Run, shown: string): Pick<SpokenStep & { type: 'text' }, 'logprobs'> {
  const logprobs: TokenLogprob[] = []
  const waiting = run.untold
  if (!waiting) return {}
  let at = 0
  let whole = 0
  while (at < shown.length) {
    const first = waiting[whole]
    const part = shown.slice(at, at + (first?.text.length ?? 0))
    if (!first?.text.startsWith(part)) {
      run.untold = null
      return {}
    }
    at += part.length
    if (part.length < first.text.length) first.text = first.text.slice(part.length)
    else {
      logprobs.push(...first.logprobs)
      whole += 1
    }
  }
  waiting.splice(0, whole)
  return logprobs.length ? { logprobs } : {}
}

/** Sends the rest of a streamed answer, after the policy was applied to the whole answer. */
export async function showRest(run: Run, write: Write, result: AgentResult, guarded: AgentResult): Promise<void> {
  const { held } = run
  await begin(run, write)
  const isWithheld = guarded.finish === 'content-filter' && guarded.content !== result.content
  // Without a hold-back, only tool calls can cause an answer to be withheld. Its replacement is sent like any text.
  const standsIn = isWithheld && !run.said.text ? guarded.content : ''
  const rest = held ? await held.rest(guarded.content, isWithheld) : standsIn
  if (rest) await write({ type: 'text', text: rest, ...(guarded.logprobs?.length ? likelihoodOf(run, rest) : {}) })
}

/** The engine's answer, or a made file or research. Throws what engines throw, and 402. */
export function think(deps: PipelineDeps, run: Run): Promise<AgentResult> {
  const work = workOf(run.resolvedMode)
  return work === 'image' || work === 'video' || run.researchRun ? make(deps, run, work) : ask(deps, run)
}

async function make(deps: PipelineDeps, run: Run, work: string): Promise<AgentResult> {
  if (work === 'image') return showWhole(run, await answerWithPicture(deps, run))
  if (work === 'video') return showWhole(run, await answerWithVideo(deps, run))
  const found = await answerWithResearch(deps, run, run.researchRun!)
  return found ? showWhole(run, found) : ask(deps, run)
}

/** Calls the engine, through the agent if there are tools. A stream shows the answer as it arrives. */
function ask(deps: PipelineDeps, run: Run): Promise<AgentResult> {
  const task = taskOf(deps, run)
  if (run.write) return shown(deps, run, task, run.write)
  return task.acting ? deps.agent.answer(task) : answerOnce(deps, task, null)
}

async function shown(deps: PipelineDeps, run: Run, task: Task, write: Write): Promise<AgentResult> {
  run.held = holdBackOf(run)
  // If the engine fails before its first byte, the response gets its own status (docs/api.md 3).
  const cancel = deps.clock.after(OPENING_MS, () => void begin(run, write))
  const emit = (step: Step) => show(run, write, step)
  try {
    return await (task.acting ? deps.agent.answer(task, emit) : answerOnce(deps, task, emit))
  } catch (error) {
    if (error === BLOCKED) return partial(deps, run, run.said.text)
    throw error
  } finally {
    cancel()
  }
}

function taskOf(deps: PipelineDeps, run: Run): Task {
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
    files: request.files,
    maxOutputTokens: run.maxOutputTokens,
    prompt: request.prompt,
    after: request.after,
    temperature: request.temperature,
    sampling: request.sampling,
    effort: request.reasoning?.effort,
    mode: work,
    json: request.json || wantsJson(work),
    signal: run.deadline.signal,
    acting: run.toolset && actingOf(deps, run, run.toolset),
    offered: run.offered,
  }
}

function actingOf(deps: PipelineDeps, run: Run, toolset: ToolAccess['toolset']): ToolAccess {
  const { call, request } = run
  const maxCalls = request.bounds?.toolCalls ?? request.maxToolCalls
  return {
    toolset,
    call,
    spent: run.spent,
    maxIterations: request.maxIterations,
    ...(maxCalls === undefined ? {} : { maxCalls }),
    ...(request.hosted?.first ? { first: request.hosted.first } : {}),
    conversationId: run.attached,
    guard: run.guard,
    afford: (wanted) => reserveTurn(deps, run, wanted),
    unpaid: () => billingErrors.toolsUnpaid(),
  }
}

/** Sends the content of a result to a stream, up to the first text that a rule blocks. */
async function showWhole(run: Run, result: AgentResult): Promise<AgentResult> {
  if (!run.write) return result
  run.held = holdBackOf(run)
  try {
    await show(run, run.write, { type: 'text', text: result.content })
  } catch (error) {
    if (error !== BLOCKED) throw error
  }
  return result
}
