import { parsedJson } from '../../kernel/json'
import { EngineFailure, type FinishReason, type ToolCall } from '../engine'
import type { UpstreamTimeout } from './upstream'

/**
 * Normalizes arguments to JSON text. Blank text becomes `{}`, because readers parse it. Unwraps JSON in a JSON string
 * or in a Markdown fence, which some servers send.
 */
export function argumentsOf(text: string): string {
  const whole = text.trim()
  if (whole === '') return '{}'
  const fenced = whole.endsWith('```') ? /^```[a-z]{0,10}\s/i.exec(whole)?.[0] : undefined
  if (fenced && whole.length > fenced.length + 3) return whole.slice(fenced.length, -3).trim()
  const value = text.startsWith('"') ? parsedJson(text) : text
  if (typeof value !== 'string') return text
  const bare = withoutMarks(value)
  return bare !== value && parsedJson(bare) !== undefined ? bare : value
}

const MARK = /<(?:\/\w{1,20}|\|\w{1,20}\|)>$/
const MAX_MARKS = 3

/** A text without the marks of a chat template at its end, such as `</tool_call>` and `<|call|>`. */
export function withoutMarks(text: string): string {
  let bare = text.trimEnd()
  for (let marks = 0; marks < MAX_MARKS; marks++) {
    const mark = MARK.exec(bare.slice(-30))?.[0] ?? ''
    if (!mark) return marks ? bare : text
    bare = bare.slice(0, -mark.length).trimEnd()
  }
  return bare
}

/** Finish reasons of upstreams, in lower case without `_`, `-` and blanks. */
const FINISHES = new Map<string, FinishReason>([
  ...`stop endturn end eos eosfound eostoken eog eot imend messageend stopsequence stoptoken stopstring stopstringfound
    stopword complete completed done finish finished normal`
    .split(/\s+/)
    .map((word) => [word, 'stop'] as const),
  ...`maxtokens maxoutputtokens maxcompletiontokens maxnewtokens maxoutput limit tokenlimit errorlimit repetition`
    .split(' ')
    .map((word) => [word, 'length'] as const),
  ...['toolcalls', 'toolcall', 'tooluse', 'functioncall'].map((word) => [word, 'tool-calls'] as const),
  ...['refusal', 'recitation', 'spii', 'language', 'imagerecitation'].map((word) => [word, 'content-filter'] as const),
])

/** Families of finish reasons: each vendor has words of its own, and some give the token that ended the text. */
const FAMILIES: readonly (readonly [RegExp, FinishReason])[] = [
  [/filter|safety|moderat|polic(?:y|ies)|prohibited|guardrail|block|sensitive|risk|toxic/i, 'content-filter'],
  [/length|truncat|(?:token|output|context).{0,30}(?:limit|reached|exceeded)/i, 'length'],
  [/^<.{1,60}>$/, 'stop'],
]

const typeOf = (response: Response): string => response.headers.get('content-type') ?? ''

export const isEventStream = (response: Response): boolean => /^text\/event-stream\b/i.test(typeOf(response))

export const isJson = (response: Response): boolean => /^application\/json\b/i.test(typeOf(response))

/** Whether a body contains server-sent events, whatever its content type says. */
export const isEvents = (text: string): boolean => /^\s*(?:data|event|id|retry)?:/.test(text)

/** Characters of one event, at most. */
const MAX_EVENT_CHARS = 4 * 1024 * 1024

const CARRIAGE_RETURN = 13

/** One server-sent event: its line (empty if it has several), its raw data, and the parsed JSON. */
export type WireEvent = { line: string; raw: string; value: unknown }

/** Bytes of an answer, at most. */
const MAX_TOTAL_BYTES = 50 * 1024 * 1024
const END_WAIT_MS = 100

const tooLarge = (what: string) => new EngineFailure('too-large', `${what} of the upstream is too large`)

const ENDED = { done: true as const, value: undefined }

/** The body as text, at most 50 MB. A declared length is checked instead of counting. */
export function readText(response: Response, timeout: UpstreamTimeout): Promise<string> {
  return lengthOf(response, MAX_TOTAL_BYTES) === null
    ? readPieceWise(response, timeout)
    : response.text().catch(brokeOff)
}

/** The declared length of a body, or null. Throws `too-large` for more than `max`. */
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

/** The body as bytes. Throws `too-large` for more than `max`. */
export async function readBytes(response: Response, timeout: UpstreamTimeout, max: number): Promise<Uint8Array> {
  if (lengthOf(response, max) !== null) return response.bytes().catch(brokeOff)
  return Buffer.concat(await Array.fromAsync(readPieces(response, timeout, max)))
}

/** The chunks of the body as they arrive. Throws `too-large` for more than `max` bytes. */
export async function* readPieces(response: Response, timeout: UpstreamTimeout, max: number) {
  lengthOf(response, max)
  const bytes = openBytes(response, timeout, max)
  try {
    for (let piece = await bytes.next(); piece; piece = await bytes.next()) yield piece
  } finally {
    await bytes.close()
  }
}

/** Turns an error of reading a body into a failure. See {@link EngineFailure.begun}. */
export const brokeOff = (cause: unknown): never => {
  if (cause instanceof EngineFailure) throw cause
  throw new EngineFailure('truncated', 'the answer of the upstream broke off', { begun: true, cause })
}

/**
 * Reads a body chunk by chunk. `next` returns null at the end. Hot paths use `read` and `taken` instead, which saves a
 * promise per chunk, and pass their errors to {@link brokeOff}. `close` ends the upstream call. If the answer is
 * complete, it first reads the connection to its end for a moment, so that it can be reused. Throws `too-large` for
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

  return {
    read,
    taken,
    next,
    async close(isWhole = false) {
      const drained = async () => {
        while (await next());
      }
      if (isWhole && !isOver) await atMost(END_WAIT_MS, drained())
      if (isOver) timeout.finished()
      else await reader!.cancel().catch(() => null)
    },
  }
}

/**
 * Splits a stream of server-sent events into JSON events, up to `[DONE]`. Servers separate events by one or two line
 * ends, and send empty events as keep-alives. So a data line with complete JSON is an event by itself, and other data
 * continues on the next line. Each event goes to `give`. `giveLine` may take the first line of an event instead, given
 * the text and the line's offsets. Throws `too-large` for an event over 4 MB, `malformed` for invalid JSON.
 */
export function createEventSplitter(
  give: (event: WireEvent) => void,
  giveLine: (text: string, from: number, end: number) => boolean = () => false,
) {
  let line = ''
  let data = ''
  let done = false
  /** Whether the next data is an error, by the name of its event. */
  let fails = false

  function takeLine(text: string): void {
    if (text === '') {
      if (data !== '') flush()
      fails = false
      return
    }
    const isBare = text.startsWith('{')
    if (!isBare && !text.startsWith('data:')) {
      if (/^event: ?error\b/.test(text)) fails = true
      // One server names the field itself so.
      else if (text.startsWith('error:')) report(text.slice('error:'.length))
      else if (/^\s+data:/.test(text)) takeLine(text.trimStart())
      // Some servers print JSON on several lines.
      else if (data !== '' && !/^(?:event|id|retry)?:/.test(text)) data += `\n${text}`
      return
    }
    // Some servers add the prefix twice.
    const raw = isBare ? text : text.replace(/^(?:data: ?){1,2}/, '')
    const isObject = raw.startsWith('{')
    if (fails) report(raw)
    else if (!isObject && /^\s*"?\[done\]"?\s*$/i.test(raw)) done = true
    else if (data !== '') data += `\n${raw}`
    else {
      const value = parsedJson(raw) ?? (raw.endsWith('}') ? parsedLoosely(raw) : undefined)
      // Some servers send `null` or a word as a keep-alive.
      if (typeof value === 'object' && value !== null) give({ line: text, raw, value })
      else if (value === undefined && /^\s*[[{]/.test(raw)) data = raw
    }
  }

  /** Gives an error whose event says that it is one, whatever its own form. */
  function report(raw: string): void {
    const value = parsedJson(raw) ?? raw.trim()
    const hasError = typeof value === 'object' && value !== null && 'error' in value
    if (value !== '') give({ line: '', raw, value: hasError ? value : { error: value } })
  }

  function flush(): void {
    const raw = data
    data = ''
    if (raw.trim() === '') return
    const value = parsedJson(raw)
    // Some servers write several objects as one event, or parts of a list.
    const list = raw.replace(/^\[|[,\]]\s*$/g, '').replace(/\}\s{0,9}(?:data: ?)?(?=\{")/g, '},')
    const several = value === undefined ? parsedJson(`[${list}]`) : null
    if (value === undefined && !several) throw new EngineFailure('malformed', 'an event of the stream is not JSON')
    for (const one of several ? (several as unknown[]) : [value]) give({ line: '', raw, value: one })
  }

  return {
    /** Whether `[DONE]` came. The rest is ignored. */
    get isDone() {
      return done
    },
    /** Whether no incomplete line or event is buffered. */
    get isEmpty() {
      return line === '' && data === '' && !done
    },
    /** Gives the events that this text completes. */
    take(piece: string): void {
      // The lines end in single carriage returns. A final one may be half of CRLF, so it is left out.
      const isOld = !piece.includes('\n') && piece.slice(0, -1).includes('\r')
      const text = isOld ? piece.replaceAll('\r', '\n') : piece
      let from = 0
      // Searches only the new text, so that an event in many small chunks costs no more than one in a few.
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
        const last = text.charCodeAt(end - 1) === CARRIAGE_RETURN && end > from ? end - 1 : end
        if (line !== '' || data !== '' || done || !giveLine(text, from, last)) {
          const rest = text.slice(from, last)
          // A CRLF may be split across two chunks.
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

const LOOSE = /"(?:[^"\\]|\\[\s\S])*"?|-?(?:NaN|Infinity)\b/g

/** Parses JSON as some servers write it: with control characters in texts, and with numbers that JSON does not have. */
export function parsedLoosely(text: string): unknown {
  const value = parsedJson(text)
  if (value !== undefined) return value
  const repaired = text.replace(LOOSE, (found) =>
    found.startsWith('"') ? found.replace(/\p{Cc}/gu, (sign) => JSON.stringify(sign).slice(1, -1)) : 'null',
  )
  return parsedJson(repaired)
}

/** Waits for a promise at most `ms`. Null if it is late or rejects. */
export async function atMost<T>(ms: number, something: Promise<T>): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => resolve(null), ms)
  const result = await Promise.race([something, late]).catch(() => null)
  clearTimeout(timer)
  return result
}

/** Arguments for a call in the history, always an object, because vendors reject anything else. */
export function argumentsForHistory(text: string): Record<string, unknown> {
  const value = parsedJson(text)
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Record<string, unknown>) : {}
}

/**
 * Maps an upstream's finish reason. Throws `truncated` for an unknown reason or one that reports a failure, because
 * such an answer is incomplete (docs/api.md 22.3).
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
  const family = FAMILIES.find(([words]) => words.test(word))
  if (family) return family[1]
  throw new EngineFailure('truncated', `the upstream ended its answer with "${word.slice(0, 40)}"`)
}

/** Corrects the finish reason by the calls: some upstreams report `stop` with a forced call. */
export function finishWith(reason: FinishReason, calls: readonly ToolCall[]): FinishReason {
  if (reason === 'stop' && calls.length) return 'tool-calls'
  return reason === 'tool-calls' && !calls.length ? 'stop' : reason
}

/** Characters that JSON strings must escape, besides the quote. */
const ESCAPED = /[\\\p{Cc}]/u

const LINE_FEED = 10
/** After this many lines without a match, the stream's lines are considered too different. */
const MAX_MISSES = 8

/**
 * Reads the text of a line without parsing the JSON, if the rest of the line equals that of an earlier one. Most lines
 * of a stream differ only in their text. The result is exactly that of `JSON.parse`, because a JSON string contains no
 * unescaped quote.
 */
export function createLinePattern() {
  let head = ''
  let tail = ''
  let misses = 0

  return {
    /** The text of a chunk that is one line with its end, which is the usual case; null for any other. */
    alone(piece: string): string | null {
      let end = piece.length
      if (piece.charCodeAt(end - 1) !== LINE_FEED) return null
      for (let code = LINE_FEED; code === LINE_FEED || code === CARRIAGE_RETURN; code = piece.charCodeAt(end - 1)) end--
      return this.match(piece, 0, end)
    },

    /** The text of the line between `from` and `end`; null if it must be parsed. */
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

    /** Learns the pattern of a parsed line. Skips lines with escapes, which may write the text differently. */
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
