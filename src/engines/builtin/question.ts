import { withoutFence } from '../../kernel/fence'
import { between } from '../../text'
import type { EngineRequest, EngineTool, JsonSchema, Message, ToolChoice } from '../engine'

/** The request as skills see it, parsed once. */
export type Question = {
  mode: string
  /** Website visitors read the answer. They cannot configure this server. */
  forVisitors: boolean
  /** The last user message, trimmed. */
  prompt: string
  /** True when the message was longer than `MAX_READ_CHARS`. */
  cut: boolean
  /** The instruction, and the text it is about; see {@link splitTask}. */
  task: string
  material: string
  system: string
  /** Earlier turns, oldest first. */
  history: readonly { role: 'user' | 'assistant'; text: string }[]
  json: JsonSchema | true | null
  tools: readonly EngineTool[]
  choice: ToolChoice
  /** True when at most one tool call a turn is wanted. */
  oneCallATurn: boolean
  /** Results of the tools called since the last user message. */
  findings: readonly Finding[]
  /** Epoch milliseconds. */
  now: number
}

/** The result of one tool call, without the fence around it. */
export type Finding = { name: string; text: string }

/** Answers the question, or returns null so that the next skill is tried. */
export type Skill = (question: Question) => string | null

/** Longest prompt that is read, because skills look at every word and would block other requests. */
export const MAX_READ_CHARS = 100_000

export function readQuestion(request: EngineRequest, now: number): Question {
  const turns = request.messages.flatMap((message) =>
    message.role === 'user' || message.role === 'assistant' ? [{ role: message.role, text: textOf(message) }] : [],
  )
  const last = turns.findLastIndex(({ role }) => role === 'user')
  const whole = bare(turns[last]?.text ?? '')
  const prompt = whole.slice(0, MAX_READ_CHARS)
  return {
    mode: request.mode,
    forVisitors: request.forVisitors ?? false,
    prompt,
    cut: whole.length > prompt.length,
    ...splitTask(prompt),
    system: request.messages
      .filter(({ role }) => role === 'system')
      .map(textOf)
      .join('\n\n'),
    history: turns.slice(0, Math.max(last, 0)),
    json: request.json === true ? true : (request.json?.schema ?? null),
    tools: request.tools ?? [],
    choice: request.toolChoice ?? 'auto',
    oneCallATurn: request.oneCallATurn ?? false,
    findings: findingsIn(request.messages),
    now,
  }
}

/** Removes the notes and quotation marks that coding agents put around the user's text. */
function bare(text: string): string {
  const end = '</system-reminder>'
  const typed = text
    .split('<system-reminder>')
    .map((part, at) => (at ? part.slice(part.includes(end) ? part.indexOf(end) + end.length : 0) : part))
    .join('')
    .trim()
  return /^"[^"]+"$/.test(typed) ? typed.slice(1, -1) : typed
}

function findingsIn(messages: readonly Message[]): Finding[] {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  return messages
    .slice(last + 1)
    .flatMap((message) =>
      message.role === 'tool'
        ? [{ name: message.toolName, text: withoutFence(message.content).slice(0, MAX_READ_CHARS) }]
        : [],
    )
}

const textOf = ({ content }: Message): string =>
  typeof content === 'string'
    ? content
    : content
        .map((part) => (part.type === 'text' ? part.text : ''))
        .join('\n')
        .trim()

const MAX_TASK_CHARS = 300

/**
 * Separates the instruction from the text it is about. The text is the part in quotes or a fence, else the part after
 * the colon or line break of an instruction, else the part above a last line with an instruction. Otherwise the whole
 * prompt is the task and `material` is empty.
 */
function splitTask(prompt: string): { task: string; material: string } {
  const fenced = FENCED.exec(prompt)
  const inFence = fenced && {
    start: fenced.index,
    end: fenced.index + fenced[0].length,
    inner: fenced[1] ?? fenced[2]!,
  }
  const [quoted] = between(prompt, '"“', '"”', 2)
  const held = quoted && quoted.start < (inFence?.start ?? Number.POSITIVE_INFINITY) ? quoted : inFence
  if (held) return { task: (prompt.slice(0, held.start) + prompt.slice(held.end)).trim(), material: held.inner.trim() }
  const lead = leadOf(prompt)
  if (lead && isInstruction(lead)) return { task: lead, material: prompt.slice(prompt.search(/[\n:]/) + 1).trim() }
  const lastBreak = prompt.lastIndexOf('\n')
  const lastLine = prompt.slice(lastBreak + 1).trim()
  if (lastBreak > 0 && lastLine.length <= MAX_TASK_CHARS && isInstruction(lastLine)) {
    return { task: lastLine, material: prompt.slice(0, lastBreak).trim() }
  }
  return { task: prompt, material: '' }
}

const FENCED = /```[a-z]*\n([\s\S]+?)```|"""([\s\S]+?)"""/i

/** What stands before a first colon and white space, or on a first line; null unless of 3 to 300 characters. */
function leadOf(prompt: string): string | null {
  const end = prompt.search(/[\n:]/)
  if (end < 3 || (prompt[end] === ':' && !/\s/.test(prompt[end + 1] ?? ''))) return null
  const lead = prompt.slice(0, end).trim()
  return lead.length <= MAX_TASK_CHARS ? lead : null
}

const VERBS =
  /\b(?:summari[sz]e|summary|tl;?dr|shorten|extract|list|find|pull|get|count|convert|translate|rewrite|revers\w*|sort\w*|upper\w*|lower\w*|capitali[sz]e|title case|\w+[ _-]?case|slug\w*|base64|encode|decode|rot-?13|sha-?256|analy[sz]e|roast|review|explain|answer|question|what|who|when|where|which|how|why|fill|format|pretty|minify|turn|make|remove|dedup\w*|unique|trim|following|alphabeti\w*)\b/i

const isInstruction = (line: string): boolean => VERBS.test(line)
