import type { ImageModelV4, LanguageModelV4 } from '@ai-sdk/provider'
import type { Clock } from '../../kernel/clock'
import { parsedJson } from '../../kernel/json'
import { trustedFetch } from '../../kernel/outbound'
import { EngineFailure } from '../engine'
import { failureOfError, failureOfReport, failureOfStatus } from '../failures'
import { atMost, createEventSplitter, isEventStream, isJson, type WireEvent } from './compat-body'
import type { UpstreamTimeout } from './upstream'

export type Vendor = 'anthropic' | 'google' | 'openai'

export type VendorOptions = { baseURL?: string; apiKey: string; headers: Record<string, string>; fetch: typeof fetch }

type Models = ((model: string) => LanguageModelV4) & { image(model: string): ImageModelV4 }

/** Imports the package of a vendor on first use, to keep start-up fast. */
export const loadVendor: Record<Vendor, () => Promise<(options: VendorOptions) => Models>> = {
  anthropic: async () => (await import('@ai-sdk/anthropic')).createAnthropic as never,
  google: async () => (await import('@ai-sdk/google')).createGoogle,
  openai: async () => (await import('@ai-sdk/openai')).createOpenAI,
}

/** Each vendor's own address, the same as in its package. Used only to list models. */
export const VENDOR_URLS: Record<Vendor, string> = {
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  openai: 'https://api.openai.com/v1',
}

/** The headers in which each vendor expects its key. */
export const VENDOR_HEADERS: Record<Vendor, (apiKey: string) => Record<string, string>> = {
  anthropic: (apiKey) => ({ 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }),
  google: (apiKey) => ({ 'x-goog-api-key': apiKey }),
  openai: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
}

const MAX_TOTAL_BYTES = 50 * 1024 * 1024
const MAX_ERROR_BYTES = 64 * 1024
/** How long to wait for the rest after the finish of an answer. */
const REST_WAIT_MS = 900

export type WatchedFetch = {
  fetch: typeof fetch
  /** The first failure of this fetch, which the vendor package may have wrapped or swallowed. */
  failure(): EngineFailure | null
  /** Whether the upstream blocked the prompt. That is an answer, but not every package reports it. */
  isBlocked(): boolean
  /**
   * Whether a response of this kind came although the other was requested. Then the next call of `fetch` returns it.
   */
  readAs(kind: 'json' | 'stream'): boolean
}

/**
 * The `fetch` that a vendor package gets for one call. Error statuses, and errors inside a 200, become failures before
 * the package reads them. Silence, size and framing are handled as in the compat driver.
 */
export function watchFetch(timeout: UpstreamTimeout, clock: Clock): WatchedFetch {
  let failure: EngineFailure | null = null
  let blocked = false
  let mistaken: Response | null = null
  let isReady = false
  const fail = (found: EngineFailure): EngineFailure => {
    failure ??= found
    return found
  }

  /** A connection that broke because we aborted it is not recorded as a failure of the upstream. */
  const broken = (error: unknown): never => {
    throw timeout.signal.aborted ? error : fail(failureOfError(error))
  }

  const watched = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    if (mistaken && isReady) return watch(mistaken)
    const response = await trustedFetch(String(input), { ...init, signal: timeout.signal }).catch(broken)
    timeout.heard()
    if (response.status !== 200) {
      const body = Number(response.headers.get('content-length') ?? 0) > MAX_ERROR_BYTES ? '' : await response.text()
      throw fail(failureOfStatus(response.status, response.headers, clock.now(), body))
    }
    // One vendor requests a stream in the address, the others in the body.
    const wantsStream =
      String(input).includes('streamGenerateContent') ||
      (typeof init?.body === 'string' && /"stream":\s*true\b/.test(init.body))
    if (wantsStream ? isJson(response) : isEventStream(response)) {
      mistaken = wantsStream ? await listAsEvents(response) : response
      if (wantsStream && isEventStream(mistaken)) return watch(mistaken)
      throw new EngineFailure('malformed', 'the upstream answered in another form than it was asked for')
    }
    return watch(response)
  }

  function watch(response: Response): Response | Promise<Response> {
    if (!response.body) return response
    const reader = readerOf(response.body)
    const headers = response.headers
    return isEventStream(response) ? eventsOf(reader, headers) : wholeOf(reader, headers)
  }

  /** One vendor streams a JSON list if its address does not request events. Each entry becomes an event. */
  async function listAsEvents(response: Response): Promise<Response> {
    const whole = await watch(response)
    const text = await whole.text()
    const list = parsedJson(text)
    if (!Array.isArray(list)) return new Response(text, { headers: whole.headers })
    const events = list.map((one) => `data: ${JSON.stringify(one)}\n\n`)
    return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } })
  }

  async function wholeOf(reader: Reader, headers: Headers): Promise<Response> {
    const pieces: Uint8Array[] = []
    for (let piece = await reader.read(); piece; piece = await reader.read()) pieces.push(piece)
    const body = Buffer.concat(pieces)
    if (!/^application\/json\b/i.test(headers.get('content-type') ?? ''))
      return new Response(body, { status: 200, headers })
    const value = parsedJson(body.toString('utf8'))
    inspect(value, headers)
    const [whole] = completed(value) ?? []
    return new Response(whole ? JSON.stringify(whole) : body, { status: 200, headers })
  }

  /** Events for the packages: one at a time, without empty ones, ending with the answer. */
  function eventsOf(reader: Reader, headers: Headers): Response {
    const decoder = new TextDecoder()
    let events: WireEvent[] = []
    const splitter = createEventSplitter((event) => events.push(event))
    let restUntil = Number.POSITIVE_INFINITY
    let lacksStop = false
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        for (;;) {
          const piece = await reader.readUntil(restUntil)
          events = []
          split(() => (piece ? splitter.take(decoder.decode(piece, { stream: true })) : splitter.end()))
          for (const { raw, value } of events) {
            inspect(value, headers)
            const given = completed(value)?.map((one) => JSON.stringify(one)) ?? [raw.replaceAll('\n', '\ndata: ')]
            for (const one of given) controller.enqueue(Buffer.from(`data: ${one}\n\n`))
            if (LAST.has((value as Wire | null)?.type)) return controller.close()
            // One vendor has no last event, and similar servers may omit it. After the finish only usage follows.
            const wire = value as Wire | null
            lacksStop ||= wire?.type === 'message_delta' && Boolean(wire.delta?.stop_reason)
            if (lacksStop || wire?.candidates?.[0]?.finishReason) restUntil = clock.monotonic() + REST_WAIT_MS
          }
          if (!piece || splitter.isDone) {
            if (lacksStop) controller.enqueue(Buffer.from('data: {"type":"message_stop"}\n\n'))
            return controller.close()
          }
          if (events.length) return
        }
      },
      cancel: reader.cancel,
    })
    return new Response(body, { status: 200, headers })
  }

  function split(work: () => void): void {
    try {
      work()
    } catch (error) {
      throw error instanceof EngineFailure ? fail(error) : error
    }
  }

  /** Throws the failure that an error inside a 200 names. */
  function inspect(value: unknown, headers: Headers): void {
    if (typeof value !== 'object' || value === null) return
    const wire = value as Wire
    blocked ||= Boolean(wire.promptFeedback?.blockReason)
    const error = wire.error ?? wire.response?.error
    if (error) throw fail(failureOfReport({ error }, headers, clock.now()))
  }

  function readerOf(source: ReadableStream<Uint8Array>) {
    const reader = source.getReader()
    let total = 0
    return {
      async read(): Promise<Uint8Array | null> {
        timeout.heard()
        const { value, done } = await reader.read().catch(brokeOff)
        timeout.rest()
        if (done) return null
        total += value.length
        if (total > MAX_TOTAL_BYTES)
          throw fail(new EngineFailure('too-large', 'the answer of the upstream is too large'))
        return value
      },
      /** Reads until `at`. Null at the end of the body, and if nothing arrived in time. */
      readUntil(at: number): Promise<Uint8Array | null> {
        return at === Number.POSITIVE_INFINITY ? this.read() : atMost(Math.max(0, at - clock.monotonic()), this.read())
      },
      cancel: (reason: unknown) => reader.cancel(reason),
    }
  }
  type Reader = ReturnType<typeof readerOf>

  /** See {@link EngineFailure.begun}. */
  const brokeOff = (cause: unknown): never => {
    if (timeout.signal.aborted) throw cause
    throw fail(new EngineFailure('truncated', 'the answer of the upstream broke off', { begun: true, cause }))
  }

  return {
    fetch: Object.assign(watched, { preconnect: fetch.preconnect }),
    failure: () => failure,
    isBlocked: () => blocked,
    readAs(kind) {
      isReady = mistaken !== null && (kind === 'stream') === isEventStream(mistaken)
      return isReady
    },
  }
}

type Wire = {
  type?: unknown
  delta?: { stop_reason?: unknown } | null
  error?: unknown
  response?: { error?: unknown } | null
  promptFeedback?: { blockReason?: unknown } | null
  candidates?: { finishReason?: unknown }[] | null
}

const NO_USAGE = { input_tokens: 0, output_tokens: 0 }
const EVENTS = /^(?:message|content_block|ping|error$|response)/
const BLOCKS = new Set<unknown>(['text', 'thinking', 'redacted_thinking', 'tool_use'])
const DELTAS = new Set<unknown>(['text_delta', 'thinking_delta', 'signature_delta', 'input_json_delta'])

/**
 * An event or a body with what similar servers leave out, as the packages need it, and without blocks and items that
 * they do not know. The list is empty for an event to leave out. Null if nothing has to change.
 */
function completed(value: unknown): unknown[] | null {
  if (typeof value !== 'object' || value === null) return null
  const wire = value as Json
  if (wire.object === 'response') return [{ ...wire, output: listOf(wire.output).flatMap(itemOf) }]
  const { type, index, message, content, content_block: block, delta, item, usage = NO_USAGE } = wire
  if (typeof type === 'string' && !EVENTS.test(type)) return []
  switch (type) {
    case 'message':
      return [
        {
          ...wire,
          usage,
          content: listOf(content)
            .filter(({ type }) => BLOCKS.has(type))
            .map(signed),
        },
      ]
    case 'message_start':
      return [{ ...wire, message: { ...(message as Json), usage: (message as Json)?.usage ?? NO_USAGE } }]
    case 'message_delta':
      return [{ ...wire, usage }]
    case 'content_block_start': {
      const { type: kind, text } = block as Json
      const begun = { type: 'content_block_delta', index, delta: { type: 'text_delta', text } }
      return text ? [{ ...wire, content_block: { type: kind, text: '' } }, begun] : BLOCKS.has(kind) ? null : []
    }
    case 'content_block_delta':
      return DELTAS.has((delta as Json).type) ? null : []
    case 'response.output_item.added':
    case 'response.output_item.done':
      return itemOf(item as Json).map((one) => ({ ...wire, item: one }))
    default:
      return null
  }
}

type Json = Record<string, unknown>

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value : [])

const signed = (block: Json): Json => (block.type === 'thinking' ? { signature: '', ...block } : block)

function itemOf(item: Json): Json[] {
  const { type, call_id: id = 'item', content } = item
  const parts = listOf(content).map((part) => ({ annotations: [], ...part }))
  if (type === 'message') return [{ id, ...item, content: parts }]
  return type === 'function_call' || type === 'reasoning' ? [{ id, ...item }] : []
}

/** The vendors' names of the last event of an answer. */
const LAST = new Set<unknown>(['message_stop', 'response.completed', 'response.incomplete', 'response.failed'])
