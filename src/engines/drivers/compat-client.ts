import {
  changesPictures,
  type Driver,
  EngineFailure,
  type EnginePart,
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
  type Sampling,
  type Sink,
  sizeFor,
} from '../engine'
import { failureOfReport } from '../failures'
import { giveAnswer } from '../meter'
import type { GivenFile } from '../schema'
import {
  argumentsForHistory,
  atMost,
  brokeOff,
  isEventStream,
  isEvents,
  isJson,
  openBytes,
  parsedLoosely,
  readBytes,
  readText,
} from './compat-body'
import { readWrittenCalls } from './compat-calls'
import { createCompatEmbeddings, type EmbeddingOptions } from './compat-embeddings'
import { createStreamReader, type ExplainError, readAnswer, readEvents } from './compat-from-wire'
import {
  createCompatSpeech,
  createCompatTranscription,
  createCompatVideos,
  type TranscriptionOptions,
} from './compat-media'
import {
  askModels,
  type CallOptions,
  createThoughtSplitter,
  headersOf,
  PLAIN_TIMEOUT_MS,
  STREAM_TIMEOUT_MS,
  send,
  thoughtsIn,
  UpstreamTimeout,
  urlOf,
  withFiles,
  withoutRefused,
  withTimeout,
} from './upstream'

const MAX_IMAGE_BYTES = 32 * 1024 * 1024

type WireImage = { b64_json?: unknown; url?: unknown } | null

const DATA_URL = /^\s*data:[^,]{0,200},/i

const malformed = () => new EngineFailure('malformed', 'the answer holds no image')

/** The body of a chat-completions request. */
type WireRequest = Record<string, unknown>

const OF_TOOL: Part = { type: 'text', text: 'Images of the tool results above:' }

function partToWire(part: Part | GivenFile): unknown {
  if (part.type === 'text') return { type: 'text', text: part.text }
  if (part.type === 'audio')
    return { type: 'input_audio', input_audio: { data: part.base64, format: part.mimeType.slice('audio/'.length) } }
  const url = `data:${part.mimeType};base64,${part.base64}`
  if (part.type === 'files') return { type: 'file', file: { filename: part.name, file_data: url } }
  return { type: 'image_url', image_url: { url, ...('detail' in part ? { detail: part.detail } : {}) } }
}

const toolToWire = (tool: EngineTool): unknown => ({ type: 'function', function: tool })

export type CompatOptions = CallOptions &
  EmbeddingOptions &
  TranscriptionOptions & {
    /** `max_tokens`, or `max_completion_tokens` for servers that require it. If absent, the model decides. */
    outputLimitField?: string | undefined
    imageEdits?: boolean | undefined
    thinksFirst?: boolean | undefined
  }

/** Models that refuse `max_tokens`, also with the name of a vendor before theirs. */
const WANTS_NEW_LIMIT = /(?:^|\/)(?:o\d|gpt-5)/

/** Servers of this format accept at most this many stop texts. The service itself checks all of them. */
const MAX_STOPS = 4

/** Members that an upstream may lack: usage is counted here, one call a turn is held here, reasoning only helps. */
const OWN_MEMBERS = ['stream_options', 'parallel_tool_calls', 'reasoning_content']

const MORE_FOLLOWS = { stream: true }

/** How long to wait for the usage after the finish of an answer. */
const USAGE_WAIT_MS = 900

/** Driver for any chat-completions server. It is on the hot path, so it does no optional work. */
export function createCompatDriver(options: CompatOptions): Driver {
  const { clock, thinksFirst } = options
  const endpoint = urlOf(options, '/chat/completions')
  const own = headersOf(options)
  const headers = { ...own, 'content-type': 'application/json' }

  return {
    ask,
    ...createCompatImages(options),
    ...createCompatSpeech(options),
    ...createCompatTranscription(options),
    ...createCompatVideos(options),
    ...createCompatEmbeddings(options),
    probe: (signal) => askModels(options, urlOf(options, '/models'), own, signal),
  }

  async function ask(request: EngineRequest, given: Sink): Promise<void> {
    const sink = readWrittenCalls(request, given)
    const timeout = new UpstreamTimeout(request.signal, options, sink.streams ? STREAM_TIMEOUT_MS : PLAIN_TIMEOUT_MS)
    try {
      const response = await withoutRefused(toWire(request, sink.streams, options), OWN_MEMBERS, (body) =>
        send(endpoint, options, timeout, { method: 'POST', headers, body: JSON.stringify(body) }),
      )
      // Some servers answer a stream with whole JSON, and a plain call with a stream.
      if (sink.streams ? !isJson(response) : isEventStream(response)) await readStream(response, timeout, sink)
      else {
        const text = await readText(response, timeout)
        timeout.finished()
        const body = isEvents(text) ? undefined : parsedLoosely(text)
        if (body === undefined) {
          for (const part of readEvents(text, explainIn(response), thinksFirst)) await sink.take(part)
          return
        }
        const behind = giveAnswer(readAnswer(body, explainIn(response), thinksFirst), sink)
        if (behind) await behind
      }
    } catch (error) {
      throw timeout.explain(error)
    } finally {
      timeout.release()
    }
  }

  /**
   * Deltas of one network read become one part. A slow reader gets fewer, larger parts, and each part costs work in
   * every later layer. After the finish only the usage is missing. It is awaited for a moment, and the answer is
   * complete even if the connection breaks then (docs/api.md 22.3).
   */
  async function readStream(response: Response, timeout: UpstreamTimeout, sink: Sink): Promise<void> {
    const bytes = openBytes(response, timeout)
    const decoder = new TextDecoder()
    const reader = createStreamReader(explainIn(response))
    const head = createThoughtSplitter(thinksFirst)
    const give = async (parts: Iterable<EnginePart>) => {
      for (const part of parts) await sink.take(part)
    }
    const take = (part: EnginePart) =>
      part.type === 'text' && !head.isAnswer() && !part.logprobs ? give(head.take(part.text)) : sink.take(part)
    try {
      while (!reader.isFinished && !reader.isDone) {
        const piece = bytes.taken(await bytes.read())
        for (const part of reader.read(piece && decoder.decode(piece, MORE_FOLLOWS))) {
          const behind = take(part)
          if (behind) await behind
        }
        if (!piece) break
      }
      if (reader.isFinished) await readRest(bytes, decoder, reader, take)
      const last = [...reader.end()]
      await give([...head.end(last), ...last])
    } catch (error) {
      brokeOff(error)
    } finally {
      await bytes.close(reader.isFinished || reader.isDone)
    }
  }

  /** Reads until the usage arrives, at most `USAGE_WAIT_MS`, and longer if text follows a finish, as on some servers. */
  async function readRest(
    bytes: ReturnType<typeof openBytes>,
    decoder: TextDecoder,
    reader: ReturnType<typeof createStreamReader>,
    take: (part: EnginePart) => void | Promise<void>,
  ): Promise<void> {
    let until = clock.monotonic() + USAGE_WAIT_MS
    let isOver = false
    const next = async (): Promise<EnginePart[]> => {
      const piece = await bytes.next()
      isOver ||= !piece
      return clock.monotonic() <= until ? reader.read(piece && decoder.decode(piece, MORE_FOLLOWS)) : []
    }
    while (!isOver && !reader.isWhole && !reader.isDone) {
      const parts = await atMost(Math.max(0, until - clock.monotonic()), next())
      isOver ||= !parts
      if (parts?.length) until = clock.monotonic() + USAGE_WAIT_MS
      for (const part of parts ?? []) await take(part)
    }
  }

  function explainIn(response: Response): ExplainError {
    return (wire) => failureOfReport(wire, response.headers, clock.now())
  }
}

function toWire(request: EngineRequest, stream: boolean, { outputLimitField }: CompatOptions): WireRequest {
  const body: WireRequest = { model: request.model, messages: messagesToWire(request), stream }
  if (stream) body.stream_options = { include_usage: true }
  if (Number.isFinite(request.maxOutputTokens)) {
    const field = WANTS_NEW_LIMIT.test(request.model) ? 'max_completion_tokens' : 'max_tokens'
    body[outputLimitField ?? field] = request.maxOutputTokens
  }
  if (request.temperature !== undefined) body.temperature = request.temperature
  if (request.sampling) addSampling(body, request.sampling)
  if (request.effort) body.reasoning_effort = request.effort
  if (request.json)
    body.response_format =
      request.json === true
        ? { type: 'json_object' }
        : { type: 'json_schema', json_schema: { name: 'answer', ...request.json } }
  if (request.tools?.length) body.tools = request.tools.map(toolToWire)
  if (request.tools?.length && request.toolChoice)
    body.tool_choice =
      typeof request.toolChoice === 'string'
        ? request.toolChoice
        : { type: 'function', function: { name: request.toolChoice.name } }
  if (request.tools?.length && request.oneCallATurn) body.parallel_tool_calls = false
  return body
}

function addSampling(body: WireRequest, sampling: Sampling): void {
  const { topP, seed, stop, frequencyPenalty, presencePenalty, logitBias, verbosity, cacheKey, logprobs } = sampling
  if (topP !== undefined) body.top_p = topP
  if (seed !== undefined) body.seed = seed
  if (stop?.length) body.stop = stop.slice(0, MAX_STOPS)
  if (frequencyPenalty !== undefined) body.frequency_penalty = frequencyPenalty
  if (presencePenalty !== undefined) body.presence_penalty = presencePenalty
  if (logitBias) body.logit_bias = logitBias
  if (verbosity) body.verbosity = verbosity
  if (cacheKey) body.prompt_cache_key = cacheKey
  if (sampling.cacheRetention) body.prompt_cache_retention = sampling.cacheRetention
  if (logprobs !== undefined) Object.assign(body, { logprobs: true, top_logprobs: logprobs })
}

/** Images of tool results follow the results as a user message, because servers take only text from a tool. */
function messagesToWire({ messages, files = [] }: EngineRequest): unknown[] {
  const wire: unknown[] = []
  const images: ImagePart[] = []
  for (const message of messages) {
    if (message.role === 'tool') images.push(...(message.images ?? []))
    else if (images.length) wire.push(ofTools(images.splice(0)))
    wire.push(messageToWire(message, files))
  }
  if (images.length) wire.push(ofTools(images))
  return wire
}

const ofTools = (images: readonly ImagePart[]) => ({ role: 'user', content: [OF_TOOL, ...images].map(partToWire) })

function messageToWire(message: Message, files: readonly GivenFile[]): unknown {
  if (message.role === 'tool') {
    return { role: 'tool', tool_call_id: message.toolCallId, content: message.content }
  }
  const { role, content, toolCalls, reasoning } = message
  const parts = role === 'user' && files.length ? withFiles(content, files) : content
  const wire: { role: string; content: string | unknown[]; reasoning_content?: string } = {
    role,
    content: typeof parts === 'string' ? parts : parts.map(partToWire),
  }
  if (reasoning) wire.reasoning_content = reasoning
  if (!toolCalls?.length) return wire
  // Empty content with calls is sent as null, because some servers reject an empty string.
  const calls = toolCalls.map((call) => ({
    ...thoughtsIn(call).extra,
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: JSON.stringify(argumentsForHistory(call.arguments)) },
  }))
  const details = toolCalls.flatMap((call) => thoughtsIn(call).thoughts)
  const isBlocks = (details as { type?: unknown }[]).some((one) => one?.type === 'thinking')
  if (details.length) Object.assign(wire, { [isBlocks ? 'thinking_blocks' : 'reasoning_details']: details })
  return { ...wire, content: wire.content.length ? wire.content : null, tool_calls: calls }
}

/** Pictures by any server with `POST /images/generations`, edits by one with `POST /images/edits`. */
function createCompatImages(
  options: CallOptions & { imageEdits?: boolean | undefined },
): Required<Pick<Driver, 'image' | 'edits'>> {
  const own = headersOf(options)
  const edits = (model: string): boolean => options.imageEdits ?? changesPictures(model)
  return {
    edits,
    image: (request) =>
      withTimeout(request.signal, options, async (timeout) => {
        const response = await withoutRefused(toImageWire(request), ['response_format'], (wire) =>
          request.base && edits(request.model)
            ? send(urlOf(options, '/images/edits'), options, timeout, {
                method: 'POST',
                headers: own,
                body: toEditForm(request, request.base, wire),
              })
            : send(urlOf(options, '/images/generations'), options, timeout, {
                method: 'POST',
                headers: { ...own, 'content-type': 'application/json' },
                body: JSON.stringify(wire),
              }),
        )
        const found = readImageAnswer(await readText(response, timeout))
        return 'url' in found ? download(found.url, timeout) : found
      }),
  }

  /** Downloads a picture from the upstream. Never calls other hosts, because only the upstream itself is trusted. */
  async function download(url: string, timeout: UpstreamTimeout): Promise<MadeImage> {
    const base = urlOf(options, '/')
    const place = URL.parse(url, base)
    if (!place || place.origin !== URL.parse(base)?.origin) {
      throw new EngineFailure('malformed', 'the answer names an image at another address')
    }
    const response = await send(place.href, options, timeout, { headers: own })
    const bytes = await readBytes(response, timeout, MAX_IMAGE_BYTES)
    return { bytes, mimeType: response.headers.get('content-type') ?? 'image/png' }
  }
}

/** The request for one picture, with its bytes in the answer if the model supports that. */
function toImageWire(request: ImageRequest) {
  const { model, aspectRatio, quality } = request
  const [size, wanted] = [sizeFor(model, aspectRatio), qualityFor(model, quality)]
  return {
    model,
    prompt: imagePrompt(request),
    n: 1,
    ...(size ? { size } : {}),
    ...(wanted ? { quality: wanted } : {}),
    // These models always answer with bytes, and reject this parameter.
    ...(model.startsWith('gpt-image') ? {} : { response_format: 'b64_json' }),
  }
}

/** The form of an edit. Several pictures use the field name for lists. */
function toEditForm(request: ImageRequest, base: MadeImage, wire: WireRequest): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries({ ...wire, prompt: editPrompt(request) })) form.set(name, String(value))
  const append = (field: string, { bytes, mimeType }: MadeImage) =>
    form.append(
      field,
      new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mimeType }),
      `image.${mimeType.replace(/^image\//, '')}`,
    )
  const images = [base, ...(request.others ?? [])]
  for (const image of images) append(images.length > 1 ? 'image[]' : 'image', image)
  if (request.mask) append('mask', request.mask)
  return form
}

/** The picture in an answer, or its address at the upstream. Throws `malformed`. */
function readImageAnswer(text: string): MadeImage | { url: string } {
  const { data } = (parsedLoosely(text) ?? {}) as { data?: unknown }
  if (!Array.isArray(data)) throw malformed()
  const [first] = data as WireImage[]
  if (typeof first?.b64_json === 'string') return decoded(first.b64_json)
  if (typeof first?.url !== 'string') throw malformed()
  return DATA_URL.test(first.url) ? decoded(first.url) : { url: first.url }
}

/** Decodes a picture. Its type is a claim; stored files get the type of their bytes. */
function decoded(base64: string): MadeImage {
  const bytes = Buffer.from(base64.replace(DATA_URL, ''), 'base64')
  if (bytes.length === 0) throw malformed()
  return { bytes, mimeType: 'image/png' }
}
