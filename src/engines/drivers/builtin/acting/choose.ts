import type { EngineTool, ToolCall, ToolChoice } from '../../../engine'
import type { Question } from '../question'
import { fillSchema } from '../schema-fill'
import { type Clause, readClause, splitAsked } from './clause'
import { type Filled, fillArguments } from './fill'
import { isResult, readable } from './findings'
import { clarity } from './match'
import { type RequestStep, stepsOf } from './steps'

type Candidate = { tool: EngineTool; filled: Filled; clear: number }

const MAX_TOOLS = 128
/** A longer request is a text; what it happens to say is not asked for. */
const MAX_ASKED_CHARS = 300
const MAX_TEXT_CHARS = 8_000
const MAX_CALLS = 8
const MAX_FILLED = 12
/** As if all were said: who is not clear with this is not clear with less. */
const HOPEFUL: Filled = { args: {}, missing: [], told: 1, spread: null }

/**
 * The calls a request asks for. By itself the engine calls a tool only where the request clearly asks for
 * it and says all it needs; made to (`required`, or by name) it calls, and leaves empty what is not said.
 */
export function callsFor(question: Question): ToolCall[] {
  const { tools, choice, prompt, task, material, now } = question
  if (choice === 'none' || tools.length === 0) return []
  if (typeof choice === 'object')
    return demanded(
      tools.filter(({ name }) => name === choice.name),
      question,
    )
  const steps = isShort(question) ? stepsOf(prompt) : null
  if (steps) {
    const [first] = callsOfStep(question, steps[0])
    if (first) return [first]
  } else if (isShort(question)) {
    const parts = material ? [task] : splitAsked(prompt)
    const clauses = parts.map((part) => readClause(part, parts.length > 1 ? part : prompt, now))
    const found = clauses.map((clause) => clearest(tools, clause))
    const whole = found.every((calls) => calls.length) ? found : [clearest(tools, readClause(task, prompt, now))]
    const calls = whole.flat().slice(0, MAX_CALLS)
    if (calls.length) return calls.map((call, place) => ({ ...call, id: `call_${place + 1}` }))
  }
  return choice === 'required' ? demanded(tools, question) : []
}

const isShort = ({ task, prompt }: Question): boolean =>
  task.length <= MAX_ASKED_CHARS && prompt.length <= MAX_TEXT_CHARS

/**
 * What a request asks for next, once a step of it has found something: one call a step, each of a tool that the
 * request itself asks for. None when there are no more steps, or when the last one led to nothing.
 */
export function nextStep(question: Question): ToolCall[] {
  const { choice, prompt, findings, oneCallATurn } = question
  const last = findings.at(-1)
  if (choice === 'none' || !last || !isShort(question)) return []
  const steps = stepsOf(prompt)
  if (steps) return isResult(last) ? callsOfStep(question, steps[findings.length]) : []
  return oneCallATurn ? callsFor(question).slice(findings.length, findings.length + 1) : []
}

function callsOfStep({ tools, findings, now }: Question, step: RequestStep | undefined): ToolCall[] {
  if (!step) return []
  const found = step.back === null ? undefined : findings[step.back]
  return clearest(tools, readClause(step.asked, step.asked, now), found && readable(found.text)).slice(0, 1)
}

/** The calls of the one tool a clause clearly asks for; none when two are asked for alike. */
function clearest(tools: readonly EngineTool[], clause: Clause, found?: string): ToolCall[] {
  const [best, second] = ranked(tools, clause, found).filter(({ clear, filled }) => clear > 0 && !filled.missing.length)
  if (!best || best.clear === second?.clear) return []
  return spreadOut(best)
}

/** Clearest first. Reading values out of a request takes time, so only tools it may be about are filled. */
function ranked(tools: readonly EngineTool[], clause: Clause, found?: string): Candidate[] {
  return tools
    .slice(0, MAX_TOOLS)
    .map((tool) => ({ tool, clear: clarity(tool, clause, HOPEFUL) }))
    .filter(({ clear }) => clear > 0)
    .sort((a, b) => b.clear - a.clear)
    .slice(0, MAX_FILLED)
    .map(({ tool }) => {
      const filled = fillArguments(tool, clause, found)
      return { tool, filled, clear: clarity(tool, clause, filled) }
    })
    .sort((a, b) => b.clear - a.clear)
}

function spreadOut({ tool, filled: { args, spread } }: Candidate): ToolCall[] {
  if (!spread) return [callOf(tool, args)]
  return spread.values.map((value) => callOf(tool, { ...args, [spread.name]: value }))
}

/** One call, come what may: of the tool that fits best, with what the request says and the emptiest of the rest. */
function demanded(tools: readonly EngineTool[], { prompt, now }: Question): ToolCall[] {
  const text = prompt.slice(0, MAX_TEXT_CHARS)
  const clause = readClause(text, text, now)
  const tool = ranked(tools, clause)[0]?.tool ?? tools[0]
  if (!tool) return []
  const { args, missing } = fillArguments(tool, clause)
  const rest = missing.length ? (fillSchema(tool.parameters, text, now) as Record<string, unknown>) : {}
  return [callOf(tool, { ...rest, ...args })]
}

const callOf = ({ name }: EngineTool, args: Record<string, unknown>): ToolCall => ({
  id: 'call_1',
  name,
  arguments: JSON.stringify(args),
})

/** Whether these results end the matter: a client that still demands calls gets them. */
export const stillCalls = (choice: ToolChoice): boolean => choice === 'required' || typeof choice === 'object'
