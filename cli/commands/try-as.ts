import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { send } from '../../src/app/client'
import { clean } from '../../src/kernel/text'
import { replyFailure, streamCut } from '../failure'
import { formatOf } from '../globals'
import { jsonIn, safeJson } from '../output/json'
import type { Shell } from '../shell'
import type { TenantApi } from '../transport'
import type { Answer } from './try'

// biome-ignore lint/suspicious/noExplicitAny: every format has a shape of its own
type Wire = any

/** Describes the request of another service's format, and where its answers hold what `try` shows. */
type Format = {
  path: string
  body(prompt: string): object
  textOf(answer: Wire): string
  /** The text in an event of a stream. Undefined for other events. */
  pieceOf(event: Wire): string | undefined
  /** The facts about the whole answer in an event. Undefined if it has none. */
  factsOf(event: Wire): Wire
  /** Replaces the mode for formats whose answers have none. Their answers are not streamed. */
  mode?: string
}

const MAX_TOKENS = 4_096

const messagesOf = (prompt: string) => [{ role: 'user', content: prompt }]

/** Base of formats whose answers are not text and are not streamed. */
function whole<Mode extends string>(mode: Mode) {
  return { mode, pieceOf: () => undefined, factsOf: () => undefined }
}

/** The formats of clients, by the name of `--as` (docs/api.md 29.1). */
export const FORMATS = {
  chat: {
    path: '/chat/completions',
    body: (prompt) => ({ model: 'auto', messages: messagesOf(prompt) }),
    textOf: ({ choices }) => choices[0].message.content ?? '',
    pieceOf: ({ choices }) => choices?.[0]?.delta?.content,
    factsOf: ({ usage, ...event }) => (event.svc_metadata || usage ? { ...event, usage: usage ?? {} } : undefined),
  },
  responses: {
    path: '/responses',
    body: (prompt) => ({ model: 'auto', input: prompt }),
    textOf: ({ output }) => partsOf(output).join(''),
    pieceOf: ({ type, delta }) => (type === 'response.output_text.delta' ? delta : undefined),
    factsOf: ({ type, response }) =>
      type === 'response.completed' || type === 'response.incomplete' ? response : undefined,
  },
  messages: {
    path: '/messages',
    body: (prompt) => ({ model: 'auto', max_tokens: MAX_TOKENS, messages: messagesOf(prompt) }),
    textOf: ({ content }) => content.map(({ text = '' }) => text).join(''),
    pieceOf: ({ delta }) => (delta?.type === 'text_delta' ? delta.text : undefined),
    factsOf: ({ message, usage, svc_metadata }) => message ?? (svc_metadata ? { usage, svc_metadata } : undefined),
  },
  embeddings: {
    path: '/embeddings',
    body: (prompt) => ({ model: 'svc-1-embed', input: prompt }),
    textOf: ({ data: [{ embedding }] }) => `${embedding.length} numbers: ${embedding.slice(0, 8).join(' ')} …`,
    ...whole('embedding'),
  },
  images: {
    path: '/images/generations',
    body: (prompt) => ({ prompt }),
    textOf: ({ data }) => data.map(({ url }: { url: string }) => url).join('\n'),
    ...whole('image'),
  },
  speech: {
    path: '/audio/speech',
    body: (prompt) => ({ model: 'svc-1-voice', voice: 'alloy', input: prompt }),
    textOf: ({ bytes, type }) => `${bytes} bytes of ${type}`,
    ...whole('tts'),
  },
  moderations: {
    path: '/moderations',
    body: (prompt) => ({ input: prompt }),
    textOf: ({ results: [{ flagged, categories }] }) =>
      flagged
        ? `flagged: ${Object.keys(categories)
            .filter((name) => categories[name])
            .join(', ')}`
        : 'not flagged',
    ...whole('moderation'),
  },
} as const satisfies Record<string, Format>

export type FormatName = keyof typeof FORMATS

export const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[]

const partsOf = (output: Wire[]): string[] =>
  output.flatMap(({ content }) => (content ?? []).map(({ text = '' }: { text?: string }) => text))

/** Sends one prompt in the format of other services' clients, and prints the answer or its events. */
export async function answerAs(
  shell: Shell,
  tenant: TenantApi,
  name: FormatName,
  body: { stream?: boolean },
): Promise<Answer> {
  const format: Format = FORMATS[name]
  const response = await post(shell, tenant, `/v1${format.path}`, body)
  if (!response.ok || !response.body) throw replyFailure(response.status, envelopeOf(await response.text()))
  const asText = ['table', 'wide'].includes(formatOf(shell.globals))
  const type = response.headers.get('content-type') ?? ''
  const cost_cents = Number(response.headers.get('x-cost-cents'))
  const answer: Wire = body.stream
    ? await readEvents(shell, response.body, format, asText)
    : type.startsWith('audio/')
      ? { type, bytes: (await response.arrayBuffer()).byteLength, svc_metadata: { cost_cents } }
      : await response.json()
  const content = body.stream ? '' : format.textOf(answer)
  if (!body.stream) shell.io.out(asText ? clean(content) : safeJson(answer))
  const { svc_metadata: facts, usage = {} } = answer
  const { mode = format.mode!, resolved_mode = mode, engine = format.mode! } = facts
  return {
    id: answer.id,
    content,
    mode,
    resolved_mode,
    model: { id: answer.model ?? engine, label: facts.engine ?? answer.model },
    usage: {
      cost_cents: facts.cost_cents ?? 0,
      total_tokens: usage.total_tokens ?? (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0),
    },
    request_id: answer.request_id ?? response.headers.get('x-request-id'),
    warnings: facts.warnings ?? [],
  }
}

/** Posts JSON with the key in use. */
export const post = (shell: Shell, { target, key }: TenantApi, path: string, body: object): Promise<Response> =>
  send(target, path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: shell.signal,
  })

/** Calls `onEvent` with each event of a stream, as it arrives. */
export async function eachEvent(stream: ReadableStream, onEvent: (event: EventSourceMessage) => void): Promise<void> {
  const parser = createParser({ onEvent })
  const decoder = new TextDecoder()
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>)
    parser.feed(decoder.decode(chunk, { stream: true }))
}

/** The error body, with its code in the place that every other format uses. */
function envelopeOf(text: string): Wire {
  const { error, ...rest } = (jsonIn(text) ?? {}) as Wire
  return error ? { ...rest, error: { ...error, code: error.details?.error_code ?? error.code } } : text
}

/** @throws CommandFailed when the stream ends with an error, or without its end event */
async function readEvents(shell: Shell, stream: ReadableStream, format: Format, asText: boolean): Promise<Wire> {
  let facts: Wire = {}
  await eachEvent(stream, ({ data }) => {
    if (data === '[DONE]') return
    const event = JSON.parse(data)
    const failed = event.error ?? event.response?.error
    if (failed) throw replyFailure(500, envelopeOf(safeJson({ error: failed })))
    facts = { ...facts, ...format.factsOf(event) }
    const piece = format.pieceOf(event)
    if (!asText) shell.io.out(safeJson(event))
    else if (piece) shell.io.raw(clean(piece))
  })
  if (asText) shell.io.raw('\n')
  if (facts.svc_metadata) return facts
  throw streamCut()
}
