import { EngineFailure, type FinishReason, type ToolCall } from '../engine'
import type { UpstreamTimeout } from './upstream'

/**
 * Arguments as JSON text. Blank text becomes `{}`, because readers parse it; some servers put the JSON into a JSON
 * string or a Markdown fence.
 */
export function argumentsOf(text: string): string {
  const whole = text.trim()
  if (whole === '') return '{}'
  const fenced = whole.endsWith('```') ? /^```[a-z]{0,10}\s/i.exec(whole)?.[0] : undefined
  if (fenced && whole.length > fenced.length + 3) return whole.slice(fenced.length, -3).trim()
  const value = text.startsWith('"') ? parsed(text) : text
  return typeof value === 'string' ? value : text
}

/** Words of upstreams for the end of an answer, in lower case without `_`, `-` and blanks. */
const FINISHES = new Map<string, FinishReason>([
  ...`stop endturn end eos eostoken stopsequence stoptoken complete completed done finish finished normal`
    .split(' ')
    .map((word) => [word, 'stop'] as const),
  ...`length maxtokens maxoutputtokens maxcompletiontokens maxnewtokens maxlength modellength tokenlimit
    modelcontextwindowexceeded contextlengthexceeded contextlength errorlimit`
    .split(/\s+/)
    .map((word) => [word, 'length'] as const),
  ...['toolcalls', 'toolcall', 'tooluse', 'functioncall'].map((word) => [word, 'tool-calls'] as const),
  ...`contentfilter contentfiltered safety refusal sensitive recitation blocklist prohibitedcontent spii language
    guardrailintervened errortoxic imagesafety imageprohibitedcontent imagerecitation`
    .split(/\s+/)
    .map((word) => [word, 'content-filter'] as const),
])

const typeOf = (response: Response): string => response.headers.get('content-type') ?? ''

export const isEventStream = (response: Response): boolean => /^text\/event-stream\b/i.test(typeOf(response))

export const isJson = (response: Response): boolean => /^application\/json\b/i.test(typeOf(response))

/** Whether a body is events, whatever type it is said to have. */
export const isEvents = (text: string): boolean => /^\s*(?:data|event|id|retry)?:/.test(text)

/** Most characters of one event. */
const MAX_EVENT_CHARS = 4 * 1024 * 1024

const CARRIAGE_RETURN = 13

/** One server-sent event: its line, empty where it has several, its data as it came, and the JSON in it. */
export type WireEvent = { line: string; raw: string; value: unknown }

/** Most bytes of an answer. */
export const MAX_TOTAL_BYTES = 50 * 1024 * 1024
const END_WAIT_MS = 100

const tooLarge = (what: string) => new EngineFailure('too-large', `${what} of the upstream is too large`)

const ENDED = { done: true as const, value: undefined }

/** The body as text, at most 50 MB; with a declared length nothing needs counting. */
export function readText(response: Response, timeout: UpstreamTimeout): Promise<string> {
  return lengthOf(response, MAX_TOTAL_BYTES) === null
    ? readPieceWise(response, timeout)
    : response.text().catch(brokeOff)
}

/** Bytes of a body that declares them, null for one that does not. Throws `too-large` for more than `max`. */
function lengthOf({ headers }: Response, max: number): number | null {
  const declared = Number(headers.get('content-length') ?? Number.NaN)
  if (declared > max) throw tooLarge('the answer')
  return declared >= 0 && !headers.has('content-encoding') ? declared : null
}

async function readPieceWise(response: Response, timeout: UpstreamTimeout): Promise<string> {
  const decoder = new TextDecoder()
  const bytes = openBytes(response, timeout)
  try {
    let text = ''
    for (let piece = await bytes.next(); piece; piece = await bytes.next())
      text += decoder.decode(piece, { stream: true })
    return text + decoder.decode()
  } finally {
    await bytes.close()
  }
}

/** The body as bytes. Throws `too-large` for more than `max`; with a declared length nothing needs counting. */
export async function readBytes(response: Response, timeout: UpstreamTimeout, max: number): Promise<Uint8Array> {
  if (lengthOf(response, max) !== null) return response.bytes().catch(brokeOff)
  return Buffer.concat(await Array.fromAsync(readPieces(response, timeout, max)))
}

/** The body piece by piece, as it arrives. Throws `too-large` for more than `most` bytes. */
export async function* readPieces(response: Response, timeout: UpstreamTimeout, max: number) {
  lengthOf(response, max)
  const bytes = openBytes(response, timeout, max)
  try {
    for (let piece = await bytes.next(); piece; piece = await bytes.next()) yield piece
  } finally {
    await bytes.close()
  }
}

/** What a read of a body threw, as one of our failures. See {@link EngineFailure.begun}. */
export const brokeOff = (cause: unknown): never => {
  if (cause instanceof EngineFailure) throw cause
  throw new EngineFailure('truncated', 'the answer of the upstream broke off', { begun: true, cause })
}

/**
 * Reads a body piece by piece; `next` gives null at the end. What runs for every token does the same with `read` and
 * `taken`, one promise less, and hands what they throw to {@link brokeOff}. `close` ends the upstream call: when the
 * answer is whole, its connection is read to its end for a moment, so that it can be reused. Throws `too-large` for
 * more than `max` bytes.
 */
export function openBytes(response: Response, timeout: UpstreamTimeout, max = MAX_TOTAL_BYTES) {
  const reader = response.body?.getReader()
  let total = 0
  let isOver = reader === undefined

  function read() {
    if (isOver) return ENDED
    timeout.heard()
    return reader!.read()
  }

  function taken({ value, done }: Awaited<ReturnType<typeof read>>): Uint8Array | null {
    timeout.rest()
    isOver = done
    if (!value) return null
    total += value.length
    if (total > max) throw tooLarge('the answer')
    return value
  }

  async function next(): Promise<Uint8Array | null> {
    try {
      return taken(await read())
    } catch (error) {
      return brokeOff(error)
    }
  }

  async function drained(): Promise<void> {
    while (await next());
  }

  return {
    read,
    taken,
    next,
    async close(isWhole = false) {
      if (isWhole && !isOver) await atMost(END_WAIT_MS, drained())
      if (isOver) timeout.finished()
      else await reader!.cancel().catch(() => null)
    },
  }
}

/**
 * Splits a stream of server-sent events into events of JSON, up to `[DONE]`. Servers part events by one line end or
 * two, and send empty ones to keep the connection: so a line of data that is whole JSON is an event by itself, and one
 * that is not continues in the next line. Each event goes to `give`; `giveLine` may take a line that begins an event
 * instead, of which it gets the text and its place in it. Throws `too-large` for an event over 4 MB, `malformed` for
 * one that is no JSON.
 */
export function createEventSplitter(
  give: (event: WireEvent) => void,
  giveLine: (text: string, from: number, end: number) => boolean = () => false,
) {
  let line = ''
  let data = ''
  let done = false

  function takeLine(text: string): void {
    if (text === '') {
      if (data !== '') flush()
      return
    }
    const isBare = text.startsWith('{')
    if (!isBare && !text.startsWith('data:')) return
    // Some servers frame what is framed already.
    const raw = isBare ? text : text.replace(/^(?:data: ?){1,2}/, '')
    const isObject = raw.startsWith('{')
    if (!isObject && raw.trim() === '[DONE]') done = true
    else if (data !== '') data += `\n${raw}`
    else {
      const value = parsed(raw)
      if (value === undefined) data = raw
      // A keep-alive of some servers.
      else if (value !== null) give({ line: text, raw, value })
    }
  }

  function flush(): void {
    const raw = data
    data = ''
    if (raw.trim() === '') return
    const value = parsed(raw)
    if (value === undefined) throw new EngineFailure('malformed', 'an event of the stream is not JSON')
    give({ line: '', raw, value })
  }

  return {
    /** `[DONE]` came: what follows is ignored. */
    get isDone() {
      return done
    },
    /** Nothing waits for more text. */
    get isEmpty() {
      return line === '' && data === '' && !done
    },
    /** Gives the events that this text completes. */
    take(piece: string): void {
      // A stream of single carriage returns; of two signs the second may only be missing at the end.
      const isOld = !piece.includes('\n') && piece.slice(0, -1).includes('\r')
      const text = isOld ? piece.replaceAll('\r', '\n') : piece
      let from = 0
      // Only new text is searched: an event in many small pieces costs no more than one in a few.
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
        const last = text.charCodeAt(end - 1) === CARRIAGE_RETURN && end > from ? end - 1 : end
        if (line !== '' || data !== '' || done || !giveLine(text, from, last)) {
          const rest = text.slice(from, last)
          // The line end itself may have come in two pieces.
          const whole = rest === '' && line.endsWith('\r') ? line.slice(0, -1) : line + rest
          if (whole.length > MAX_EVENT_CHARS) throw tooLarge('one event')
          if (!done) takeLine(whole)
          line = ''
        }
        from = end + 1
      }
      line += from === 0 ? text : text.slice(from)
      if (line.length + data.length > MAX_EVENT_CHARS) throw tooLarge('one event')
    },
    /** Gives the event that the end of the stream completes. */
    end(): void {
      this.take('\n\n')
    },
  }
}

/** Undefined for what is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Waits for a promise at most `ms`; null when it comes too late or fails. */
export async function atMost<T>(ms: number, something: Promise<T>): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => resolve(null), ms)
  const result = await Promise.race([something, late]).catch(() => null)
  clearTimeout(timer)
  return result
}

/** Arguments that an upstream accepts in a history: vendors refuse anything but a JSON object. */
export function argumentsForHistory(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {}
  } catch {
    return {}
  }
}

/**
 * What a finish word of an upstream means. Throws `truncated` for one that is unknown or tells of a failure: such an
 * answer is not whole (docs/api.md 22.3).
 */
export function finishOf(word: string): FinishReason {
  const known =
    FINISHES.get(word) ??
    FINISHES.get(
      word
        .toLowerCase()
        .replace(/[_.\s-]/g, '')
        .replace(/^finishreason/, ''),
    )
  if (known) return known
  throw new EngineFailure('truncated', `the upstream ended its answer with "${word.slice(0, 40)}"`)
}

/** Makes the finish reason fit the calls: some upstreams report `stop` beside a call they were forced to make. */
export function finishWith(reason: FinishReason, calls: readonly ToolCall[]): FinishReason {
  if (reason === 'stop' && calls.length) return 'tool-calls'
  return reason === 'tool-calls' && !calls.length ? 'stop' : reason
}

/** What no text in JSON holds as it is, besides the quote that ends it. */
const ESCAPED = /[\\\p{Cc}]/u

const LINE_FEED = 10
/** Lines that no later line was like, before a stream is taken for one whose lines vary. */
const MAX_MISSES = 8

/**
 * Reads a line that is like an earlier one but for its text, without parsing it: what is before and after the text in
 * one parsed line is the same in most lines of a stream. It reads exactly what `JSON.parse` reads, because a bare quote
 * cannot stand inside a JSON string.
 */
export function createLinePattern() {
  let head = ''
  let tail = ''
  let misses = 0

  return {
    /** The text of a piece that is one line and its end, as most reads of a stream are; null for any other. */
    alone(piece: string): string | null {
      let end = piece.length
      if (piece.charCodeAt(end - 1) !== LINE_FEED) return null
      for (let code = LINE_FEED; code === LINE_FEED || code === CARRIAGE_RETURN; code = piece.charCodeAt(end - 1)) end--
      return this.match(piece, 0, end)
    },

    /** The text of the line in `text` from `from` to `end`; null for one that has to be parsed. */
    match(text: string, from: number, end: number): string | null {
      if (head === '' || !text.startsWith(head, from)) return null
      const start = from + head.length
      const quote = text.indexOf('"', start)
      if (quote + tail.length !== end || !text.startsWith(tail, quote)) return null
      const found = text.slice(start, quote)
      if (ESCAPED.test(found)) return null
      misses = 0
      return found
    },

    /** A parsed line and the text in it. A line with an escape may hold the text in other characters. */
    learn(line: string, text: string): void {
      if (misses >= MAX_MISSES || line.includes('\\')) return
      const at = line.indexOf(`"${text}"`)
      if (at < 0 || line.includes(`"${text}"`, at + 1)) return
      misses += 1
      head = line.slice(0, at + 1)
      tail = line.slice(at + 1 + text.length)
    },
  }
}
