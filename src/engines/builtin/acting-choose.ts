import { contentWords, sentencesOf } from '../../text'
import type { EngineTool, ToolCall, ToolChoice } from '../engine'
import { type Filled, fillArguments } from './acting-fill'
import { isResult, readable } from './acting-findings'
import {
  type Clause,
  codeIn,
  isVerb,
  isWeak,
  likeVerb,
  readClause,
  splitRequested,
  tellingWords,
  wordsOfName,
} from './acting-phrases'
import type { Question } from './question'
import { fillSchema, propertiesOf } from './schema-fill'

const NAMED = 100

const PER_WORD = 10

const PER_VERB = 5

/** For the verb of the tool's name itself rather than a synonym. */
const EXACT = 4

/** `use get_weather for …`; a name that is a plain word needs `use`, `call` or `tool` beside it. */
const mentions = (name: string, { instruction: question }: Clause): boolean =>
  new RegExp(`(?<![\\w-])${RegExp.escape(name)}(?![\\w-])`).test(question) &&
  (/[_\dA-Z-]/.test(name) ||
    new RegExp(
      `\\b(?:use|call|run|with|using)\\s+(?:the\\s+)?${RegExp.escape(name)}\\b|\\b${RegExp.escape(name)}\\s+tool\\b`,
      'i',
    ).test(question))

/** Words that refer to an earlier result: `it`, `them`, `the result`. */
const BACK =
  /\b(?:it|them|that|this|these|those|(?:the|this|that|these|those)\s+(?:results?|answers?|pages?|text|findings?|output|content|values?|document|article))\b/i

/** One step of a request; `back` is the index of the step whose result it uses, or null. */
type RequestStep = { instruction: string; back: number | null }

type Candidate = { tool: EngineTool; filled: Filled; clear: number }

const MAX_TOOLS = 128
/** A longer request is taken for a text to work on, whose words do not ask for tools. */
const MAX_REQUESTED_CHARS = 300
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
    const parts = material ? [task] : splitRequested(prompt)
    const clauses = parts.map((part) => readClause(part, parts.length > 1 ? part : prompt, now))
    const found = clauses.map((clause) => clearest(tools, clause))
    const whole = found.every((calls) => calls.length) ? found : [clearest(tools, readClause(task, prompt, now))]
    const calls = whole.flat().slice(0, MAX_CALLS)
    if (calls.length) return calls.map((call, index) => ({ ...call, id: `call_${index + 1}` }))
  }
  return choice === 'required' ? demanded(tools, question) : []
}

const isShort = ({ task, prompt }: Question): boolean =>
  task.length <= MAX_REQUESTED_CHARS && prompt.length <= MAX_TEXT_CHARS

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
  return clearest(tools, readClause(step.instruction, step.instruction, now), found && readable(found.text)).slice(0, 1)
}

/** The calls of the tool that a clause asks for most clearly; none when two tools are equally clear. */
function clearest(tools: readonly EngineTool[], clause: Clause, found?: string): ToolCall[] {
  const [best, second] = ranked(tools, clause, found).filter(({ clear, filled }) => clear > 0 && !filled.missing.length)
  if (!best || best.clear === second?.clear) return []
  const { tool, filled } = best
  const { args, spread } = filled
  return spread ? spread.values.map((value) => callOf(tool, { ...args, [spread.name]: value })) : [callOf(tool, args)]
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

/**
 * Splits a request such as `search for tides, then save it` into steps that must run one after another, because a
 * later one uses the result of an earlier one. Null when no step refers back.
 */
function stepsOf(prompt: string): RequestStep[] | null {
  let last = 0
  const steps = splitRequested(prompt).map((text, at): RequestStep => {
    const question = text.replace(/(?<![.!?\s])[.!?\s]+$/, '')
    if (at > 0 && BACK.test(question))
      return { instruction: question.replace(BACK, ' ').replace(/\s+/g, ' ').trim(), back: last }
    last = at
    return { instruction: question, back: null }
  })
  return steps.some(({ back }) => back !== null) ? steps : null
}

/**
 * How clearly a request asks for a tool; 0 when it does not. The request must be a question or an instruction, and
 * contain every telling word of the tool's name and its verb, or the topic of its description.
 */
function clarity(tool: EngineTool, clause: Clause, filled: Filled): number {
  if (mentions(tool.name, clause)) return NAMED
  const parts = wordsOfName(tool.name)
  const asks = clause.isQuestion || isVerb(clause.first) || parts.includes(clause.first)
  if (!asks) return 0
  const described = contentWords(tool.description).filter((word) => clause.words.has(word)).length
  const byName = clarityOfName(parts, clause, filled)
  if (byName > 0) return byName + Math.min(described, EXACT - 1)
  return clarityOfDescription(tool, clause, filled)
}

function clarityOfName(parts: readonly string[], clause: Clause, filled: Filled): number {
  const verbs = parts.filter(isVerb)
  const nouns = tellingWords(parts)
  const implied = impliedBy(clause)
  if (!nouns.every((noun) => clause.words.has(noun) || implied.has(noun))) return 0
  const strong = verbs.filter((verb) => !isWeak(verb))
  // Whether the request has the verb or a synonym; for a name without nouns it must be the first word.
  const matched = strong.filter((verb) => {
    const like = likeVerb(verb)!
    return nouns.length === 0
      ? like.has(clause.first)
      : like.has(clause.first) || [...like].some((one) => clause.words.has(one))
  })
  if (strong.length > matched.length) return 0
  const exact = matched.some((verb) => clause.words.has(verb)) ? EXACT : 0
  if (nouns.length + matched.length > 0) return nouns.length * PER_WORD + matched.length * PER_VERB + exact
  // The name is only `get` or `read`: the request must begin with such a verb and state an argument.
  return isWeak(clause.first) && filled.told > 0 ? PER_VERB : 0
}

/** Words that the text implies: a URL implies `page`, an e-mail address `mail`, code `script`. */
function impliedBy({ text, entities }: Clause): Set<string> {
  const words: string[] = []
  if (entities('urls').length) words.push('url page site website link address')
  if (entities('emails').length) words.push('email mail')
  if (codeIn(text)) words.push('code script program javascript')
  return new Set(contentWords(words.join(' ')))
}

/** For a name without meaning: how many topic words of the description occur. An argument must be stated as well. */
function clarityOfDescription({ description, parameters }: EngineTool, { words }: Clause, filled: Filled): number {
  const own = new Set(
    contentWords(
      propertiesOf(parameters)
        .flatMap(([name]) => wordsOfName(name))
        .join(' '),
    ),
  )
  const first = sentencesOf(description)[0] ?? ''
  const topics = [...new Set(tellingWords(first.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []))].filter(
    (word) => !own.has(word),
  )
  const hits = topics.filter((word) => words.has(word)).length
  return hits > 0 && hits >= topics.length * 0.6 && filled.told > 0 && !filled.missing.length ? hits : 0
}
