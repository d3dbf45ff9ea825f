import type { EngineTool, ToolCall, ToolChoice } from '../../engines'
import type { Question } from '../question'
import { fillSchema } from '../schema-fill'
import { type Clause, readClause, splitAsked } from './clause'
import { type Filled, fillArguments } from './fill'
import { isResult, readable } from './findings'
import { clarity } from './match'
import { type RequestStep, stepsOf } from './steps'

type Candidate = { tool: EngineTool; filled: Filled; clear: number }

const MAX_TOOLS = 128
/** A longer request is taken for a text to work on, whose words do not ask for tools. */
const MAX_ASKED_CHARS = 300
const MAX_TEXT_CHARS = 8_000
const MAX_CALLS = 8
const MAX_FILLED = 12
/** The best possible fill: a tool that is not clear with this one is not clear with any. */
const HOPEFUL: Filled = { args: {}, missing: [], told: 1, spread: null }

/**
 * The tool calls a request asks for. With `auto`, a tool is called only when the request clearly asks for it and
 * states every required argument. With `required` or a named tool one is always called, with empty values for
 * arguments that are not stated.
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
    if (calls.length) return calls.map((call, index) => ({ ...call, id: `call_${index + 1}` }))
  }
  return choice === 'required' ? demanded(tools, question) : []
}

const isShort = ({ task, prompt }: Question): boolean =>
  task.length <= MAX_ASKED_CHARS && prompt.length <= MAX_TEXT_CHARS

/**
 * The next call of a request with several steps, after a step has a result; only tools that the request itself asks
 * for are called. None when there are no more steps, or when the last one found nothing.
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

/** The calls of the tool that a clause asks for most clearly; none when two tools are equally clear. */
function clearest(tools: readonly EngineTool[], clause: Clause, found?: string): ToolCall[] {
  const [best, second] = ranked(tools, clause, found).filter(({ clear, filled }) => clear > 0 && !filled.missing.length)
  if (!best || best.clear === second?.clear) return []
  return spreadOut(best)
}

/** Candidates, clearest first. Only tools that may be meant are filled, because reading values takes time. */
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

/** One call in any case: of the best tool, with the stated arguments and empty values for the required rest. */
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

/** Whether the client still demands calls when results are there already. */
export const stillCalls = (choice: ToolChoice): boolean => choice === 'required' || typeof choice === 'object'
