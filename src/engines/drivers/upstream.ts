import type { Clock } from '../../kernel/clock'
import { parsedJson } from '../../kernel/json'
import { trustedFetch } from '../../kernel/outbound'
import { type EngineAnswer, EngineFailure, type EnginePart, type ModelFacts, type Part, type ToolCall } from '../engine'
import { failureOfError, failureOfStatus } from '../failures'
import type { GivenFile } from '../schema'
import { readText } from './compat-body'

const MAX_MODELS = 5_000

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const listOf = (value: unknown): unknown[] | undefined => (Array.isArray(value) ? value : undefined)

/** Options for all calls of a compatible server. */
export type CallOptions = TimeoutSettings & {
  /** The address without a route such as `/audio/speech`. */
  baseUrl: string
  apiKey: string | null
  /** Headers of every call, added to the default ones or replacing them. Names in lower case. */
  headers?: Record<string, string>
}

export const urlOf = ({ baseUrl }: CallOptions, path: string): string => baseUrl.replace(/(?<!\/)\/+$/, '') + path

export const headersOf = ({ apiKey, headers }: CallOptions): Record<string, string> => ({
  ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  ...headers,
})

/** How long one upstream call may take, in milliseconds (docs/api.md 28.4). */
export type TimeoutSettings = {
  clock: Clock
  /** Of the whole call. If absent, the limit of the client's request applies. */
  timeoutMs?: number | undefined
  /** Without a byte from the upstream. If absent, only the limit of the whole call applies. */
  silenceMs?: number | undefined
}

/** Time limits of the client's request, plain and streamed (docs/api.md 1.9). */
export const PLAIN_TIMEOUT_MS = 120_000
export const STREAM_TIMEOUT_MS = 600_000

const ONCE = { once: true }

/**
 * Limits one upstream call. Aborts it when its caller leaves, or when it exceeds its limits: `maxMs` unless the settings
 * name another. A class for speed, because one is created for every call.
 */
export class UpstreamTimeout {
  private readonly ending = new AbortController()
  /** Signal for the upstream call. Aborts with the caller, and when the upstream is too slow or silent for too long. */
  readonly signal = this.ending.signal
  private beyond: string | null = null
  private resting = false
  private isWhole = false
  private heardAt: number
  private readonly timeoutMs: number
  private readonly disarm: () => void
  private unwatch: (() => void) | null = null

  constructor(
    private readonly caller: AbortSignal,
    private readonly limits: TimeoutSettings,
    maxMs: number,
  ) {
    const { clock, timeoutMs = maxMs } = limits
    this.timeoutMs = timeoutMs
    this.heardAt = clock.monotonic()
    if (caller.aborted) this.handleEvent()
    else caller.addEventListener('abort', this, ONCE)
    this.disarm = clock.after(timeoutMs, () => this.giveUp(`the upstream did not finish within ${timeoutMs / 1_000} s`))
    if (this.silenceMs < timeoutMs) this.watch(this.silenceMs)
  }

  private get silenceMs(): number {
    return this.limits.silenceMs ?? this.timeoutMs
  }

  /** Called when the caller has left. */
  handleEvent(): void {
    this.ending.abort(this.caller.reason)
  }

  private giveUp(why: string): void {
    this.beyond = why
    this.ending.abort()
  }

  /** Checks when the limit may have passed, because restarting a timer with every byte costs more. */
  private watch(ms: number): void {
    this.unwatch = this.limits.clock.after(ms, () => {
      this.unwatch = null
      if (this.resting) return
      const more = Math.ceil(this.heardAt + this.silenceMs - this.limits.clock.monotonic())
      if (more > 0) this.watch(more)
      else this.giveUp(`the upstream was silent for ${this.silenceMs / 1_000} s`)
    })
  }

  /** Restarts the silence timer. Call when bytes arrive or a read begins. */
  heard(): void {
    this.resting = false
    if (this.silenceMs >= this.timeoutMs) return
    this.heardAt = this.limits.clock.monotonic()
    if (!this.unwatch && !this.signal.aborted) this.watch(this.silenceMs)
  }

  /** Suspends the silence timer until the next `heard`, because a slow reader must not count as upstream silence. */
  rest(): void {
    this.resting = true
  }

  /** Translates an exception of the call. If the caller has left, returns the caller's reason. */
  explain(error: unknown): unknown {
    if (this.caller.aborted) return this.caller.reason
    return this.beyond === null ? failureOfError(error) : new EngineFailure('timeout', this.beyond)
  }

  /** Call when the whole answer has arrived, so that `release` aborts nothing. */
  finished(): void {
    this.isWhole = true
  }

  /** Stops the timers, and aborts the call unless it has finished. */
  release(): void {
    this.disarm()
    this.unwatch?.()
    this.caller.removeEventListener('abort', this)
    // Does not abort a finished call, because notifying the listeners costs more than everything else here.
    if (!this.isWhole) this.ending.abort()
  }
}

/** Runs one call within its limits; `work` reads the whole answer. Throws {@link EngineFailure} and the signal's reason. */
export async function withTimeout<T>(
  signal: AbortSignal,
  settings: TimeoutSettings,
  work: (timeout: UpstreamTimeout) => Promise<T>,
): Promise<T> {
  const timeout = new UpstreamTimeout(signal, settings, PLAIN_TIMEOUT_MS)
  try {
    const done = await work(timeout)
    timeout.finished()
    return done
  } catch (error) {
    throw timeout.explain(error)
  } finally {
    timeout.release()
  }
}

/** Sends a request. Throws the failure that its status reports, unless that is 2xx. */
export async function send(url: string, { clock }: TimeoutSettings, timeout: UpstreamTimeout, init: RequestInit) {
  const response = await trustedFetch(url, { ...init, signal: timeout.signal })
  timeout.heard()
  if (response.ok) return response
  const body = await readText(response, timeout)
  throw failureOfStatus(response.status, response.headers, clock.now(), body)
}

/**
 * Sends a request, and once more without those of the `optional` members, at any depth, that the upstream refuses by
 * name: svc adds them, so no client can leave them out.
 */
export async function withoutRefused<T>(
  body: Record<string, unknown>,
  optional: readonly string[],
  send: (body: Record<string, unknown>) => Promise<T>,
): Promise<T> {
  try {
    return await send(body)
  } catch (error) {
    const words = error instanceof EngineFailure ? error.rejection?.words : ''
    const refused = optional.filter((name) => words?.includes(name))
    if (!refused.length) throw error
    return send(JSON.parse(JSON.stringify(body, (name, value) => (refused.includes(name) ? undefined : value))))
  }
}

/**
 * Asks an upstream for the list of its models, which costs nothing. Returns an empty list for a server without one
 * (404, 405), because it is reachable. Throws {@link EngineFailure}.
 */
export const askModels = (
  settings: TimeoutSettings,
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<ModelFacts[]> =>
  withTimeout(signal, settings, async (timeout) => {
    const response = await trustedFetch(url, { headers, signal: timeout.signal })
    const text = await readText(response, timeout)
    if (response.status === 404 || response.status === 405) return []
    if (!response.ok) throw failureOfStatus(response.status, response.headers, settings.clock.now(), text)
    return readListing(text)
  })

/** Reads a list of models in any of the forms that servers send. Empty for any other text. */
export function readListing(text: string): ModelFacts[] {
  const listed = parsedJson(text)
  const entries = isRecord(listed) ? ([listed.data, listed.models].find(Array.isArray) ?? []) : []
  return entries.slice(0, MAX_MODELS).filter(isRecord).flatMap(factsOf)
}

function factsOf(entry: Record<string, unknown>): ModelFacts[] {
  const id = [entry.id, entry.name].find((word) => typeof word === 'string')
  if (!id) return []
  const can = isRecord(entry.capabilities) ? entry.capabilities : {}
  const architecture = isRecord(entry.architecture) ? entry.architecture : {}
  const modalities = listOf(architecture.input_modalities) ?? listOf(entry.input_modalities)
  const parameters = listOf(entry.supported_parameters)
  return [
    {
      id: id.replace(/^models\//, ''),
      vision: modalities?.includes('image') ?? statedOf(can.vision ?? can.image_input),
      tools: parameters?.includes('tools') ?? statedOf(can.function_calling),
      json: parameters && ['response_format', 'structured_outputs'].some((word) => parameters.includes(word)),
    },
  ]
}

/** Reads `true`, `{"supported": true}` and their opposites. Undefined for anything else. */
function statedOf(value: unknown): boolean | undefined {
  const supported = isRecord(value) ? value.supported : value
  return typeof supported === 'boolean' ? supported : undefined
}

/** A user message with each file in place of its text. Text that was changed since stays as text. */
export function withFiles(content: string | readonly Part[], files: readonly GivenFile[]): (Part | GivenFile)[] {
  let parts: (Part | GivenFile)[] = typeof content === 'string' ? [{ type: 'text', text: content }] : [...content]
  for (const file of files) {
    const at = parts.findIndex((part) => part.type === 'text' && part.text.includes(file.text))
    const part = parts[at]
    if (part?.type !== 'text') continue
    const start = part.text.indexOf(file.text)
    const around = [part.text.slice(0, start), file, part.text.slice(start + file.text.length)]
    const between = around.flatMap((one): (Part | GivenFile)[] =>
      typeof one !== 'string' ? [one] : one.trim() ? [{ type: 'text', text: one.trim() }] : [],
    )
    parts = [...parts.slice(0, at), ...between, ...parts.slice(at + 1)]
  }
  return parts
}

/**
 * Attaches thoughts that an upstream needs back unchanged, such as signed ones, to the first call after them. Clients
 * return calls on the next turn (docs/api.md 33.4).
 */
export function withThoughts(calls: ToolCall[], thoughts: readonly unknown[]): ToolCall[] {
  const [first, ...rest] = calls
  return first && thoughts.length ? [{ ...first, extra: { ...first.extra, thoughts } }, ...rest] : calls
}

/** The thoughts that a client returned with a call, and the other members that its upstream needs. */
export function thoughtsIn({ extra = {} }: ToolCall): { thoughts: unknown[]; extra: Record<string, unknown> } {
  const { thoughts, ...others } = extra
  return { thoughts: Array.isArray(thoughts) ? thoughts : [], extra: others }
}

/** Separates the thoughts at the beginning of an answer from its text. */
export function splitText(
  whole: string,
  reasoning: string,
  thinksFirst = false,
): Pick<EngineAnswer, 'text' | 'reasoning'> {
  const isOpened = thinksFirst && whole.includes(CLOSED)
  const head = whole.trimStart()
  if (!isOpened && !THOUGHTS.some(([opened]) => head.startsWith(opened)))
    return splitAtEnd(whole, reasoning) ?? { text: whole, reasoning }
  const splitter = createThoughtSplitter(isOpened)
  const split = { text: '', reasoning }
  for (const part of [...splitter.take(whole), ...splitter.end()])
    if (part.type === 'text') split.text += part.text
    // Some servers give the same thoughts in a member, too.
    else if (part.type === 'reasoning' && !reasoning) split.reasoning += part.text
  return split
}

/** Handles answers with only a closing tag, because many chat templates contain the opening one themselves. */
function splitAtEnd(whole: string, known: string): Pick<EngineAnswer, 'text' | 'reasoning'> | null {
  const at = whole.indexOf('</think>')
  if (at < 0) return null
  const [before, behind] = [whole.slice(0, at), whole.slice(at + '</think>'.length)]
  // In code, in quotes or within a line, the answer talks about the tag.
  const isQuoted = before.includes('<think>') || before.split('```').length % 2 === 0 || !/^(?:\s|$)/.test(behind)
  if (isQuoted || /["'`]$/.test(before)) return null
  const line = behind.split('\n', 1)[0]!
  return line.trim() && !before.endsWith('\n') ? null : { text: behind.trimStart(), reasoning: known + before }
}

const CLOSED = '</think>'

const ANSWER_BEGINS = '<|channel|>final<|message|>'
const ANSWERS_BEGIN = [`<|end|><|start|>assistant${ANSWER_BEGINS}`, `<|end|>${ANSWER_BEGINS}`, ANSWER_BEGINS] as const

/** What begins thoughts at the beginning of an answer, and what may end them. */
const THOUGHTS: readonly (readonly [string, ...string[]])[] = [
  ['<think>', CLOSED],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['[THINK]', '[/THINK]'],
  ['<seed:think>', '</seed:think>'],
  ['<mm:think>', '</mm:think>'],
  ['◁think▷', '◁/think▷'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
  ['<|inner_prefix|>', '<|inner_suffix|>'],
  ['<|begin_of_thought|>', '<|end_of_thought|>'],
  ['<|channel>thought\n', '<channel|>'],
  ['<|channel|>analysis<|message|>', ...ANSWERS_BEGIN],
  ['<|start|>assistant<|channel|>analysis<|message|>', ...ANSWERS_BEGIN],
]

/**
 * Separates thoughts between tags at the beginning of a streamed answer (docs/api.md 33.4). Buffers text that may be
 * half a tag. `end` returns what is left. With `thinksFirst` an answer begins within thoughts, also without a tag. If it
 * then ends by itself without the closing tag, it had no thoughts, and `end` returns it as text.
 */
export function createThoughtSplitter(thinksFirst = false) {
  let waiting = ''
  let isUntagged = false
  let untagged = ''
  let closed: readonly string[] = []
  let state: 'head' | 'thoughts' | 'gap' | 'answer' = 'head'
  const text = (found: string): EnginePart[] => (found ? [{ type: 'text', text: found }] : [])
  const thoughts = (found: string): EnginePart[] => (found ? [{ type: 'reasoning', text: found }] : [])

  function take(piece: string): EnginePart[] {
    if (state === 'answer') return text(piece)
    if (state === 'gap') {
      const rest = piece.trimStart()
      if (rest) state = 'answer'
      return text(rest)
    }
    const found = waiting + piece
    waiting = ''
    if (state === 'head') {
      const head = found.trimStart()
      const begun = THOUGHTS.find(([opened]) => head.startsWith(opened))
      if (begun) {
        state = 'thoughts'
        const [opened, ...ends] = begun
        closed = ends
        return take(head.slice(opened.length))
      }
      if (THOUGHTS.some(([opened]) => opened.startsWith(head))) waiting = found
      else if (thinksFirst) {
        state = 'thoughts'
        closed = [CLOSED]
        isUntagged = true
        return take(head)
      } else {
        state = 'answer'
        return text(found)
      }
      return []
    }
    if (isUntagged) untagged += piece
    const ends = closed.map((end) => [found.indexOf(end), end.length] as const).filter(([at]) => at >= 0)
    const [first] = ends.sort(([one], [other]) => one - other)
    if (!first) {
      const sure = Math.max(0, found.length - Math.max(...closed.map(({ length }) => length)) + 1)
      waiting = found.slice(sure)
      return thoughts(found.slice(0, sure))
    }
    state = 'gap'
    const [at, length] = first
    return [...thoughts(found.slice(0, at)), ...take(found.slice(at + length))]
  }

  return {
    take,
    /** Whether the answer itself has begun. From then on nothing is buffered. */
    isAnswer: () => state === 'answer',
    end(last: readonly EnginePart[] = []): EnginePart[] {
      if (state !== 'thoughts') return text(waiting)
      const isWhole = isUntagged && last.some((part) => part.type === 'finish' && part.reason === 'stop')
      return isWhole ? [...thoughts(waiting), ...text(untagged)] : thoughts(waiting)
    },
  }
}
