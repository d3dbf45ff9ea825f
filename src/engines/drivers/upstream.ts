import type { Clock } from '../../kernel/clock'
import { trustedFetch } from '../../kernel/outbound'
import { type EngineAnswer, EngineFailure, type EnginePart, type ModelFacts, type Part, type ToolCall } from '../engine'
import { failureOfError, failureOfStatus } from '../failures'
import type { GivenFile } from '../schema'
import { readText } from './compat-body'

type Request = {
  url: string
  headers: Record<string, string>
  signal: AbortSignal
  limits: TimeoutLimits
  clock: Clock
}

const MAX_MODELS = 5_000

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const listOf = (value: unknown): unknown[] | undefined => (Array.isArray(value) ? value : undefined)

/** How a compatible server is called, whatever it is asked for. */
export type CallOptions = TimeoutSettings & {
  /** Without what follows it, such as `/audio/speech`. */
  baseUrl: string
  apiKey: string | null
  /** Headers for every call; they are added to the default ones or replace them; names in lower case. */
  headers?: Record<string, string>
  clock: Clock
}

export const urlOf = ({ baseUrl }: CallOptions, path: string): string => baseUrl.replace(/(?<!\/)\/+$/, '') + path

export const headersOf = ({ apiKey, headers }: CallOptions): Record<string, string> => ({
  ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  ...headers,
})

/** How long one upstream call may take, in milliseconds. */
export type TimeoutLimits = {
  clock: Pick<Clock, 'monotonic' | 'after'>
  /** From its beginning to its end. */
  timeoutMs: number
  /** Without a byte from the upstream; absent, it may be silent as long as it may take. */
  silenceMs?: number | undefined
}

/** The limits of an upstream's settings; absent members take the defaults (docs/api.md 28.4). */
export type TimeoutSettings = { timeoutMs?: number | undefined; silenceMs?: number | undefined }

/** What the request itself may take, plain and streamed (docs/api.md 1.9). */
export const PLAIN_TIMEOUT_MS = 120_000
export const STREAM_TIMEOUT_MS = 600_000

/** Bounds one upstream call: it is aborted when its caller leaves, or when it goes beyond its limits. */
export const startTimeout = (caller: AbortSignal, limits: TimeoutLimits): UpstreamTimeout =>
  new UpstreamTimeout(caller, limits)

/** A class, because it is made for every call. */
export class UpstreamTimeout {
  private readonly ending = new AbortController()
  /** For the upstream call: aborts with the caller, and when the upstream is too slow or silent for too long. */
  readonly signal = this.ending.signal
  private beyond: string | null = null
  private resting = false
  private isWhole = false
  private heardAt: number
  private readonly disarm: () => void
  private unwatch: (() => void) | null = null

  constructor(
    private readonly caller: AbortSignal,
    private readonly limits: TimeoutLimits,
  ) {
    const { clock, timeoutMs } = limits
    this.heardAt = clock.monotonic()
    if (caller.aborted) this.handleEvent()
    else caller.addEventListener('abort', this, { once: true })
    this.disarm = clock.after(timeoutMs, () => this.giveUp(`the upstream did not finish within ${timeoutMs / 1_000} s`))
    if (this.silenceMs < timeoutMs) this.watch(this.silenceMs)
  }

  private get silenceMs(): number {
    return this.limits.silenceMs ?? this.limits.timeoutMs
  }

  /** The caller has left. */
  handleEvent(): void {
    this.ending.abort(this.caller.reason)
  }

  private giveUp(why: string): void {
    this.beyond = why
    this.ending.abort()
  }

  /** Looks when the limit may have passed, because a timer that every byte restarts costs more. */
  private watch(ms: number): void {
    this.unwatch = this.limits.clock.after(ms, () => {
      this.unwatch = null
      if (this.resting) return
      const more = Math.ceil(this.heardAt + this.silenceMs - this.limits.clock.monotonic())
      if (more > 0) this.watch(more)
      else this.giveUp(`the upstream was silent for ${this.silenceMs / 1_000} s`)
    })
  }

  /** Restarts the silence timer: bytes arrived, or a read begins. */
  heard(): void {
    this.resting = false
    if (this.silenceMs >= this.limits.timeoutMs) return
    this.heardAt = this.limits.clock.monotonic()
    if (!this.unwatch && !this.signal.aborted) this.watch(this.silenceMs)
  }

  /** Suspends the silence timer until the next `heard`: a slow reader is not the upstream's silence. */
  rest(): void {
    this.resting = true
  }

  /** Translates an exception of the call; when the caller has left, returns the caller's own reason. */
  explain(error: unknown): unknown {
    if (this.caller.aborted) return this.caller.reason
    return this.beyond === null ? failureOfError(error) : new EngineFailure('timeout', this.beyond)
  }

  /** The whole answer has arrived, so `release` has nothing to abort. */
  finished(): void {
    this.isWhole = true
  }

  /** Stops the timers, and aborts the call unless it has finished. */
  release(): void {
    this.disarm()
    this.unwatch?.()
    this.caller.removeEventListener('abort', this)
    // A finished call is not aborted, because notifying the listeners costs more than everything else here.
    if (!this.isWhole) this.ending.abort()
  }
}

/**
 * Asks an upstream for the list of its models, which costs nothing. A server that has no such list (404, 405) is
 * there, and says nothing about its models. Throws {@link EngineFailure}.
 */
export async function askModels({ url, headers, signal, limits, clock }: Request): Promise<ModelFacts[]> {
  const timeout = startTimeout(signal, limits)
  try {
    const response = await trustedFetch(url, { headers, signal: timeout.signal })
    if (response.status === 404 || response.status === 405) return []
    const text = await readText(response, timeout)
    if (!response.ok) {
      throw failureOfStatus(response.status, response.headers, clock.now(), text)
    }
    return readListing(text)
  } catch (error) {
    throw timeout.explain(error)
  } finally {
    timeout.release()
  }
}

/** The models of a list in any of the forms that servers send; none where the text is something else. */
export function readListing(text: string): ModelFacts[] {
  const listed = parsed(text)
  const entries = [listed.data, listed.models].find(Array.isArray) ?? []
  return entries.slice(0, MAX_MODELS).filter(isRecord).flatMap(factsOf)
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
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

/** `true`, `{"supported": true}`, or their opposites; anything else tells nothing. */
function statedOf(value: unknown): boolean | undefined {
  const message = isRecord(value) ? value.supported : value
  return typeof message === 'boolean' ? message : undefined
}

/** What a user said, with each file in the place of its text. A text that was changed since stays as it is. */
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
 * Puts thoughts that an upstream wants back as they were, such as signed ones, into the first call behind them: that is
 * what a client returns in its next turn (docs/api.md 33.4).
 */
export function withThoughts(calls: ToolCall[], thoughts: readonly unknown[]): ToolCall[] {
  const [first, ...rest] = calls
  return first && thoughts.length ? [{ ...first, extra: { ...first.extra, thoughts } }, ...rest] : calls
}

/** The thoughts that came back with a call, and what else its upstream wants with it. */
export function thoughtsIn({ extra = {} }: ToolCall): { thoughts: unknown[]; extra: Record<string, unknown> } {
  const { thoughts, ...others } = extra
  return { thoughts: Array.isArray(thoughts) ? thoughts : [], extra: others }
}

/** The text of an answer without the thoughts at its head. */
export function splitText(whole: string, reasoning: string): Pick<EngineAnswer, 'text' | 'reasoning'> {
  if (!beginsWithThoughts(whole)) return splitAtEnd(whole, reasoning) ?? { text: whole, reasoning }
  const splitter = createThoughtSplitter()
  const split = { text: '', reasoning }
  for (const part of [...splitter.take(whole), ...splitter.end()])
    if (part.type === 'text') split.text += part.text
    else if (part.type === 'reasoning') split.reasoning += part.text
  return split
}

/** Many templates of chats hold the opening tag themselves, so that only the closing one is in an answer. */
function splitAtEnd(whole: string, known: string): Pick<EngineAnswer, 'text' | 'reasoning'> | null {
  const at = whole.indexOf('</think>')
  if (at < 0) return null
  const [before, behind] = [whole.slice(0, at), whole.slice(at + '</think>'.length)]
  // In code, in quotes or within a line the tag is what the answer is about.
  const isQuoted = before.includes('<think>') || before.split('```').length % 2 === 0 || !/^(?:\s|$)/.test(behind)
  if (isQuoted || /["'`]$/.test(before)) return null
  const line = behind.split('\n', 1)[0]!
  return line.trim() && !before.endsWith('\n') ? null : { text: behind.trimStart(), reasoning: known + before }
}

/** What is before the thoughts at the head of an answer, and behind them. */
const THOUGHTS: readonly (readonly [string, string])[] = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['[THINK]', '[/THINK]'],
  ['<|channel|>analysis<|message|>', '<|end|><|start|>assistant<|channel|>final<|message|>'],
]

/** Whether a whole text begins with thoughts. */
const beginsWithThoughts = (text: string): boolean => {
  const head = text.trimStart()
  return THOUGHTS.some(([opened]) => head.startsWith(opened))
}

/**
 * Takes thoughts out of the head of an answer, where a server leaves them between tags (docs/api.md 33.4). Text that
 * may be half a tag waits for more; `end` gives what is left.
 */
export function createThoughtSplitter() {
  let waiting = ''
  let closed = ''
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
        closed = begun[1]
        return take(head.slice(begun[0].length))
      }
      if (THOUGHTS.some(([opened]) => opened.startsWith(head))) waiting = found
      else {
        state = 'answer'
        return text(found)
      }
      return []
    }
    const at = found.indexOf(closed)
    if (at < 0) {
      const sure = Math.max(0, found.length - closed.length + 1)
      waiting = found.slice(sure)
      return thoughts(found.slice(0, sure))
    }
    state = 'gap'
    return [...thoughts(found.slice(0, at)), ...take(found.slice(at + closed.length))]
  }

  return {
    take,
    /** What is being read; of an answer nothing is held back any more. */
    isAnswer: () => state === 'answer',
    end: (): EnginePart[] => (state === 'thoughts' ? thoughts(waiting) : text(waiting)),
  }
}
