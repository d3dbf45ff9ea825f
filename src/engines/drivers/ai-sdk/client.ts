import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { Clock } from '../../../kernel/clock'
import {
  type Driver,
  type EngineAnswer,
  EngineFailure,
  type EnginePart,
  type EngineRequest,
  type ImageRequest,
  type MadeImage,
  type ToolCall,
} from '../../engine'
import { collect, partsOfAnswer } from '../answers'
import { finishWith } from '../calls'
import { askModels } from '../listing'
import {
  PLAIN_TIMEOUT_MS,
  STREAM_TIMEOUT_MS,
  startTimeout,
  type TimeoutSettings,
  type UpstreamTimeout,
} from '../upstream-timeout'
import { createPartReader, explainVendorError, readResult } from './from-wire'
import { readImage, toImageOptions } from './images'
import { toCallOptions } from './to-wire'
import { loadImageVendor, loadVendor, VENDOR_HEADERS, VENDOR_URLS, type Vendor, type VendorOptions } from './vendors'
import { type WatchedFetch, watchFetch } from './watched-fetch'

export type AiSdkOptions = TimeoutSettings & {
  vendor: Vendor
  /** Null: the vendor's own address. */
  baseUrl: string | null
  apiKey: string | null
  /** Sent with every call, beside or instead of the package's own; names in lower case. */
  headers?: Record<string, string>
  clock: Clock
}

/** Given in place of a missing key, because the packages would otherwise read one from the environment. */
const NO_KEY = 'none'

/** Driver for the vendors whose packages implement the shared language-model interface (design 1.6). */
export function createAiSdkDriver({ vendor, baseUrl, apiKey, clock, headers = {}, ...patience }: AiSdkOptions): Driver {
  const limits = (ms: number) => ({ clock, silenceMs: patience.silenceMs, timeoutMs: patience.timeoutMs ?? ms })

  return {
    complete,
    stream,
    ...(loadImageVendor[vendor] ? { image: makeImage } : {}),
    probe: (signal) =>
      askModels({
        url: `${(baseUrl ?? VENDOR_URLS[vendor]).replace(/(?<!\/)\/+$/, '')}/models`,
        headers: { ...(apiKey ? VENDOR_HEADERS[vendor](apiKey) : {}), ...headers },
        signal,
        limits: limits(PLAIN_TIMEOUT_MS),
        clock,
      }),
  }

  async function makeImage(request: ImageRequest): Promise<MadeImage> {
    const { model, timeout, explain } = await open(request, PLAIN_TIMEOUT_MS, loadImageVendor[vendor]!)
    try {
      return readImage(await model.doGenerate(toImageOptions(vendor, request, timeout.signal)))
    } catch (error) {
      throw explain(error)
    } finally {
      timeout.release()
    }
  }

  async function open<Model>(
    request: Pick<EngineRequest, 'signal' | 'model'>,
    most: number,
    load: () => Promise<(options: VendorOptions, model: string) => Model>,
  ) {
    request.signal.throwIfAborted()
    const modelOf = await load()
    const timeout = startTimeout(request.signal, limits(most))
    const watched = watchFetch(timeout, clock)
    const options = {
      apiKey: apiKey ?? NO_KEY,
      headers,
      fetch: watched.fetch,
      ...(baseUrl ? { baseURL: baseUrl } : {}),
    }
    const explain = (error: unknown) => {
      const found = watched.failure() ?? explainVendorError(error)
      return found.kind === 'refused' || request.signal.aborted ? timeout.explain(found) : found
    }
    return { model: modelOf(options, request.model), timeout, explain, watched }
  }

  async function complete(request: EngineRequest): Promise<EngineAnswer> {
    const opened = await open(request, PLAIN_TIMEOUT_MS, loadVendor[vendor])
    try {
      return await wholeOf(opened, request)
    } catch (error) {
      throw opened.explain(error)
    } finally {
      opened.timeout.release()
    }
  }

  /** Some upstreams answer a plain call with a stream; then the package reads it as one. */
  async function wholeOf(opened: Opened, request: EngineRequest): Promise<EngineAnswer> {
    const { model, timeout, watched } = opened
    try {
      const result = await model.doGenerate(toCallOptions(request, timeout.signal))
      return readResult(result, watched.isBlocked())
    } catch (error) {
      if (!watched.readAs('stream')) throw error
      return collect(partsOf(opened, request))
    }
  }

  async function* stream(request: EngineRequest): AsyncGenerator<EnginePart> {
    const opened = await open(request, STREAM_TIMEOUT_MS, loadVendor[vendor])
    try {
      yield* partsOf(opened, request)
    } catch (error) {
      throw opened.explain(error)
    } finally {
      opened.timeout.release()
    }
  }

  /** Some upstreams answer a stream with whole JSON; then the package reads it as that. */
  async function* partsOf(opened: Opened, request: EngineRequest): AsyncGenerator<EnginePart> {
    const { model, timeout, watched } = opened
    const options = toCallOptions(request, timeout.signal)
    let parts: ReadableStream<LanguageModelV4StreamPart>
    try {
      parts = (await model.doStream(options)).stream
    } catch (error) {
      if (!watched.readAs('json')) throw error
      return yield* partsOfAnswer(readResult(await model.doGenerate(options), watched.isBlocked()))
    }
    yield* readParts(parts, watched.isBlocked)
  }
}

type Opened = {
  model: LanguageModelV4
  timeout: UpstreamTimeout
  watched: WatchedFetch
  explain(error: unknown): unknown
}

/** Parts that a package emits even when nothing came over the wire. */
const MADE_UP = new Set(['stream-start', 'finish'])

async function* readParts(
  parts: ReadableStream<LanguageModelV4StreamPart>,
  isBlocked: () => boolean,
): AsyncGenerator<EnginePart> {
  const read = createPartReader(isBlocked)
  const calls: ToolCall[] = []
  let any = false
  let finished = false
  for await (const part of parts) {
    any ||= !MADE_UP.has(part.type) || (part.type === 'finish' && (part.finishReason.raw !== undefined || isBlocked()))
    if (part.type === 'finish' && !any) break
    for (const own of read(part)) {
      finished ||= own.type === 'finish'
      if (own.type === 'tool-call') calls.push(own)
      yield own.type === 'finish' ? { ...own, reason: finishWith(own.reason, calls) } : own
    }
  }
  if (!any) throw new EngineFailure('malformed', 'the stream holds no event')
  if (!finished) throw new EngineFailure('truncated', 'the stream ended before its finish')
}
