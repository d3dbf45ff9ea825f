import type {
  ImageModelV4CallOptions,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4ReasoningPart,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import {
  type CacheMarks,
  changesPictures,
  type Driver,
  type EngineAnswer,
  EngineFailure,
  type EngineRequest,
  type EngineTool,
  editPrompt,
  type ImagePart,
  type ImageRequest,
  imagePrompt,
  type MadeImage,
  type Message,
  type Part,
  qualityFor,
  type Sink,
  sizeFor,
  type ToolCall,
} from '../engine'
import { giveAnswer } from '../meter'
import type { GivenFile } from '../schema'
import { createPartReader, explainVendorError, readResult, thoughtParts } from './ai-sdk-from-wire'
import {
  loadVendor,
  VENDOR_HEADERS,
  VENDOR_URLS,
  type Vendor,
  type WatchedFetch,
  watchFetch,
} from './ai-sdk-watched-fetch'
import { argumentsForHistory, finishWith } from './compat-body'
import {
  askModels,
  PLAIN_TIMEOUT_MS,
  STREAM_TIMEOUT_MS,
  type TimeoutSettings,
  thoughtsIn,
  UpstreamTimeout,
  withFiles,
} from './upstream'

type Spoken = Exclude<Message, { role: 'tool' }>

const partsOfHistory = ({ content }: Spoken): Part[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

const textOf = (message: Spoken): string =>
  partsOfHistory(message)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('\n')

const partToWire = (part: Part | GivenFile) =>
  part.type === 'text'
    ? { type: 'text' as const, text: part.text }
    : {
        type: 'file' as const,
        mediaType: part.mimeType,
        data: { type: 'data' as const, data: part.base64 },
        ...('name' in part ? { filename: part.name } : {}),
        ...('detail' in part && part.detail ? { providerOptions: { openai: { imageDetail: part.detail } } } : {}),
      }

const toResult = (message: Extract<Message, { role: 'tool' }>): LanguageModelV4ToolResultPart => ({
  type: 'tool-result',
  toolCallId: message.toolCallId,
  toolName: message.toolName,
  output: message.images?.length
    ? { type: 'content', value: [{ type: 'text', text: message.content }, ...message.images.map(imageOfResult)] }
    : { type: 'text', value: message.content },
})

const imageOfResult = ({ mimeType, base64 }: ImagePart) => ({
  type: 'file' as const,
  mediaType: mimeType,
  data: { type: 'data' as const, data: base64 },
})

function callToWire(call: ToolCall): (LanguageModelV4ReasoningPart | LanguageModelV4ToolCallPart)[] {
  const { extra } = thoughtsIn(call)
  const providerOptions = Object.keys(extra).length ? { providerOptions: extra as SharedV4ProviderOptions } : {}
  const input = argumentsForHistory(call.arguments)
  return [
    ...thoughtParts(call),
    { type: 'tool-call', toolCallId: call.id, toolName: call.name, input, ...providerOptions },
  ]
}

/** By default one vendor stores requests and accepts only schemas of its strict subset of JSON Schema. */
const PROVIDER_OPTIONS = { openai: { store: false, strictJsonSchema: false } }

const ONE_CALL_A_TURN = {
  openai: { ...PROVIDER_OPTIONS.openai, parallelToolCalls: false },
  anthropic: { disableParallelToolUse: true },
}

/** One vendor has no JSON mode without a schema, and another requires the word JSON in the prompt. */
const SAY_JSON: Message = { role: 'system', content: 'Answer with one JSON object and nothing else.' }

const toolToWire = ({ name, description, parameters, strict }: EngineTool): LanguageModelV4FunctionTool => ({
  type: 'function',
  name,
  description,
  inputSchema: parameters,
  ...(strict === undefined ? {} : { strict }),
})

export type AiSdkOptions = TimeoutSettings & {
  vendor: Vendor
  /** Null: the vendor's own address. */
  baseUrl: string | null
  apiKey: string | null
  /** Headers of every call, added to the package's own or replacing them. Names in lower case. */
  headers?: Record<string, string>
}

/** Used for a missing key, because the packages would otherwise read one from the environment. */
const NO_KEY = 'none'

/** Driver for the vendors whose packages implement the shared language-model interface (docs/design.md 1.6). */
export function createAiSdkDriver({ vendor, baseUrl, apiKey, headers = {}, ...settings }: AiSdkOptions): Driver {
  return {
    ask,
    ...(vendor === 'anthropic' ? {} : { image: makeImage, edits: (model: string) => edits(vendor, model) }),
    probe: (signal) =>
      askModels(
        settings,
        `${(baseUrl ?? VENDOR_URLS[vendor]).replace(/(?<!\/)\/+$/, '')}/models`,
        { ...(apiKey ? VENDOR_HEADERS[vendor](apiKey) : {}), ...headers },
        signal,
      ),
  }

  async function makeImage(request: ImageRequest): Promise<MadeImage> {
    const { models, timeout, explain } = await open(request, PLAIN_TIMEOUT_MS)
    try {
      const answer = await models.image(request.model).doGenerate(toImageOptions(vendor, request, timeout.signal))
      const [first] = answer.images
      const bytes = typeof first === 'string' ? Buffer.from(first, 'base64') : first
      if (!bytes?.length) throw new EngineFailure('malformed', 'the answer holds no image')
      return { bytes, mimeType: 'image/png' }
    } catch (error) {
      throw explain(error)
    } finally {
      timeout.release()
    }
  }

  async function open(request: Pick<EngineRequest, 'signal'>, max: number) {
    request.signal.throwIfAborted()
    const modelsOf = await loadVendor[vendor]()
    const timeout = new UpstreamTimeout(request.signal, settings, max)
    const watched = watchFetch(timeout, settings.clock)
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
    return { models: modelsOf(options), timeout, explain, watched }
  }

  async function ask(request: EngineRequest, sink: Sink): Promise<void> {
    const { models, ...call } = await open(request, sink.streams ? STREAM_TIMEOUT_MS : PLAIN_TIMEOUT_MS)
    const opened = { ...call, model: models(request.model) }
    try {
      await (sink.streams ? askStream(opened, request, sink) : askWhole(opened, request, sink))
    } catch (error) {
      throw opened.explain(error)
    } finally {
      opened.timeout.release()
    }
  }

  /** Makes a plain call. If the upstream answers with a stream, the package reads it as one. */
  async function askWhole(opened: Opened, request: EngineRequest, sink: Sink): Promise<void> {
    const { model, timeout, watched } = opened
    let answer: EngineAnswer
    try {
      answer = readResult(await model.doGenerate(toCallOptions(request, timeout.signal)), watched.isBlocked())
    } catch (error) {
      if (!watched.readAs('stream')) throw error
      return askStream(opened, request, sink)
    }
    await giveAnswer(answer, sink)
  }

  /** Makes a streamed call. If the upstream answers with whole JSON, the package reads it as JSON. */
  async function askStream(opened: Opened, request: EngineRequest, sink: Sink): Promise<void> {
    const { model, timeout, watched } = opened
    const options = toCallOptions(request, timeout.signal)
    let parts: ReadableStream<LanguageModelV4StreamPart>
    try {
      parts = (await model.doStream(options)).stream
    } catch (error) {
      if (!watched.readAs('json')) throw error
      return giveAnswer(readResult(await model.doGenerate(options), watched.isBlocked()), sink)
    }
    await readParts(parts, watched.isBlocked, sink)
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

async function readParts(
  parts: ReadableStream<LanguageModelV4StreamPart>,
  isBlocked: () => boolean,
  sink: Sink,
): Promise<void> {
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
      await sink.take(own.type === 'finish' ? { ...own, reason: finishWith(own.reason, calls) } : own)
    }
  }
  if (!any) throw new EngineFailure('malformed', 'the stream holds no event')
  if (!finished) throw new EngineFailure('truncated', 'the stream ended before its finish')
}

const edits = (vendor: Vendor, model: string): boolean => vendor === 'google' || changesPictures(model)

const fileOf = ({ bytes, mimeType }: MadeImage) => ({ type: 'file' as const, data: bytes, mediaType: mimeType })

/** An image request for the vendor packages: openai takes sizes, google aspect ratios. */
function toImageOptions(vendor: Vendor, request: ImageRequest, signal: AbortSignal): ImageModelV4CallOptions {
  const { model, aspectRatio, quality, base, others = [], mask } = request
  const inputImages = base && edits(vendor, model) ? [base, ...others] : []
  const size = vendor === 'openai' ? sizeFor(model, aspectRatio) : undefined
  const wanted = vendor === 'openai' ? qualityFor(model, quality) : undefined
  return {
    prompt: inputImages.length ? editPrompt(request) : imagePrompt(request),
    n: 1,
    size: size as ImageModelV4CallOptions['size'],
    aspectRatio:
      vendor === 'openai' ? undefined : ((aspectRatio ?? undefined) as ImageModelV4CallOptions['aspectRatio']),
    seed: undefined,
    files: inputImages.length ? inputImages.map(fileOf) : undefined,
    mask: mask && inputImages.length ? fileOf(mask) : undefined,
    providerOptions: wanted ? { openai: { quality: wanted } } : {},
    abortSignal: signal,
  }
}

/** The request in the format of the vendor packages' shared interface. */
function toCallOptions(request: EngineRequest, signal: AbortSignal): LanguageModelV4CallOptions {
  const { messages, json, tools, toolChoice, oneCallATurn, temperature } = request
  const options: LanguageModelV4CallOptions = {
    prompt: toPrompt(json === true ? [SAY_JSON, ...messages] : messages, request.files),
    maxOutputTokens: request.maxOutputTokens,
    abortSignal: signal,
    providerOptions: tools?.length && oneCallATurn ? ONE_CALL_A_TURN : PROVIDER_OPTIONS,
  }
  if (temperature !== undefined) options.temperature = temperature
  const { topP, topK, seed, stop, frequencyPenalty, presencePenalty } = request.sampling ?? {}
  if (topP !== undefined) options.topP = topP
  if (topK !== undefined) options.topK = topK
  if (seed !== undefined) options.seed = seed
  if (stop?.length) options.stopSequences = [...stop]
  if (frequencyPenalty !== undefined) options.frequencyPenalty = frequencyPenalty
  if (presencePenalty !== undefined) options.presencePenalty = presencePenalty
  if (request.effort) options.reasoning = request.effort
  const { cacheKey: promptCacheKey, cacheRetention, cacheMarks = {} } = request.sampling ?? {}
  const promptCacheRetention = RETENTIONS[cacheRetention ?? '']
  if (promptCacheKey || promptCacheRetention) {
    const { openai } = options.providerOptions ?? {}
    const kept = {
      ...(promptCacheKey ? { promptCacheKey } : {}),
      ...(promptCacheRetention ? { promptCacheRetention } : {}),
    }
    options.providerOptions = { ...options.providerOptions, openai: { ...openai, ...kept } }
  }
  mark(
    options.prompt.findLast(({ role }) => role === 'system'),
    cacheMarks.system,
  )
  mark(
    options.prompt.filter(({ role }) => role !== 'system').at(-1 - (cacheMarks.messages?.behind ?? 0)),
    cacheMarks.messages,
  )
  if (json) {
    const { schema, name } = json === true ? {} : json
    options.responseFormat = { type: 'json', ...(schema ? { schema } : {}), ...(name ? { name } : {}) }
  }
  if (tools?.length) {
    const offered = tools.map(toolToWire)
    mark(offered.at(-1), cacheMarks.tools)
    options.tools = offered
    options.toolChoice =
      typeof toolChoice === 'object' ? { type: 'tool', toolName: toolChoice.name } : { type: toolChoice ?? 'auto' }
  }
  return options
}

/** The package's values for the retention of a cached prefix. */
const RETENTIONS: Readonly<Record<string, string>> = { '24h': '24h', in_memory: 'in_memory', 'in-memory': 'in_memory' }

/** Marks the end of a prefix that the upstream should cache. */
function mark(
  place: { providerOptions?: SharedV4ProviderOptions } | undefined,
  kept: NonNullable<CacheMarks[keyof CacheMarks]> | undefined,
): void {
  if (!place || !kept) return
  const { behind: _, ...time } = kept
  place.providerOptions = { anthropic: { cacheControl: { type: 'ephemeral', ...time } } }
}

/**
 * Messages in the format of the vendor packages. The results of one turn share a message, because some vendors
 * refuse them one by one. A system message after other turns is sent as a user message, because not every
 * vendor accepts one there.
 */
function toPrompt(messages: readonly Message[], files: readonly GivenFile[] = []): LanguageModelV4Message[] {
  const prompt: LanguageModelV4Message[] = []
  for (const message of messages) {
    const last = prompt.at(-1)
    if (message.role === 'tool' && last?.role === 'tool') last.content.push(toResult(message))
    else if (message.role === 'system' && last && last.role !== 'system')
      prompt.push({
        role: 'user',
        content: [{ type: 'text', text: textOf(message) }],
      })
    else prompt.push(toMessage(message, files))
  }
  return prompt
}

function toMessage(message: Message, files: readonly GivenFile[]): LanguageModelV4Message {
  switch (message.role) {
    case 'tool':
      return { role: 'tool', content: [toResult(message)] }
    case 'system':
      return { role: 'system', content: textOf(message) }
    case 'user':
      return { role: 'user', content: withFiles(partsOfHistory(message), files).map(partToWire) }
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...partsOfHistory(message)
            .filter((part) => part.type !== 'text' || part.text !== '')
            .map(partToWire),
          ...(message.toolCalls ?? []).flatMap(callToWire),
        ],
      }
  }
}
