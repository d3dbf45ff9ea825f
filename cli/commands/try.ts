import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { send } from '../../src/app/client'
import { centsToMicro, spellCents } from '../../src/kernel/money'
import { clean } from '../../src/kernel/text'
import { columnsOf, commandsOf, defined } from '../command'
import { replyFailure, streamCut, usageFailure } from '../failure'
import { readTextFile } from '../files'
import { formatOf } from '../globals'
import { jsonIn, safeJson } from '../output/json'
import type { Shell } from '../shell'
import type { TenantApi } from '../transport'
import { choice, flag, list, optional, text } from '../words'

const command = commandsOf('', { apis: ['operator', 'tenant'], exits: [] })

/** The facts of an answer, whole or streamed. */
type Answer = {
  mode: string
  resolved_mode: string
  model: { id: string; label: string }
  usage: { cost_cents: number; total_tokens: number; cached?: boolean }
  request_id: string
  warnings?: string[]
}

/** Quotes a word for the shell when necessary. */
const quoted = (text: string, always = false): string =>
  always || !/^[\w./@:+-]+$/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : text

// biome-ignore lint/suspicious/noExplicitAny: every format has a shape of its own
type Wire = any

/** Describes the request of a format, and where its answers hold what `try` shows. */
type Format = {
  path: string
  body(prompt: string): object
  textOf(answer: Wire): string
  /** The text in an event of a stream. Undefined for other events. */
  pieceOf(event: Wire): string | undefined
  /** The facts about the whole answer in an event. Undefined if it has none. */
  factsOf(event: Wire): Wire
}

const MAX_TOKENS = 4_096
const messagesOf = (prompt: string) => [{ role: 'user', content: prompt }]

/** The format of svc, whose facts are members of the answer and of its events. */
const OWN: Format = {
  path: '/api/v1/completions',
  body: (prompt) => ({ prompt }),
  textOf: ({ content }) => content,
  pieceOf: ({ token }) => token,
  factsOf: ({ token, ...facts }) => (token === undefined ? facts : undefined),
}

/** The formats of clients, by the name of `--as` (docs/api.md 29.1). */
const FORMATS = {
  chat: {
    path: '/v1/chat/completions',
    body: (prompt) => ({ model: 'auto', messages: messagesOf(prompt) }),
    textOf: ({ choices }) => choices[0].message.content ?? '',
    pieceOf: ({ choices }) => choices?.[0]?.delta?.content,
    factsOf: ({ usage, ...event }) => (event.svc_metadata || usage ? { ...event, usage: usage ?? {} } : undefined),
  },
  responses: {
    path: '/v1/responses',
    body: (prompt) => ({ model: 'auto', input: prompt }),
    textOf: ({ output }) => partsOf(output).join(''),
    pieceOf: ({ type, delta }) => (type === 'response.output_text.delta' ? delta : undefined),
    factsOf: ({ type, response }) =>
      type === 'response.completed' || type === 'response.incomplete' ? response : undefined,
  },
  messages: {
    path: '/v1/messages',
    body: (prompt) => ({ model: 'auto', max_tokens: MAX_TOKENS, messages: messagesOf(prompt) }),
    textOf: ({ content }) => content.map(({ text = '' }) => text).join(''),
    pieceOf: ({ delta }) => (delta?.type === 'text_delta' ? delta.text : undefined),
    factsOf: ({ message, usage, svc_metadata }) => message ?? (svc_metadata ? { usage, svc_metadata } : undefined),
  },
} as const satisfies Record<string, Format>

type FormatName = keyof typeof FORMATS

export const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[]

const partsOf = (output: Wire[]): string[] =>
  output.flatMap(({ content }) => (content ?? []).map(({ text = '' }: { text?: string }) => text))

export const tryPrompt =
  command`try (writes, exits 3 6): Send one prompt and print the answer, its cost and the same call as curl
  Sends the request that a client would send. The key comes from --key-file or SVC_API_KEY. Without either, it is the key in data/dev-key, which the first start created. The answer goes to stdout and everything about it to stderr. If no server runs, the command opens the data folder and runs the request itself.
  $ try "Count to five slowly"
  $ try "Count to five" --as messages
  $ try "Count to five" --stream
  $ try -f question.txt --mode think --json`({
    columns: columnsOf`id ID, content ANSWER, resolved_mode MODE, request_id REQUEST`,
    args: { prompt: optional('what to ask') },
    flags: {
      file: { ...text('FILE', 'a file that contains the prompt; - reads stdin'), short: 'f' },
      mode: text('MODE', 'auto, fast, think, code, roast, genui, or another mode of GET /models'),
      skills: list('a,b', 'ids of installed skills to use'),
      as: choice(FORMAT_NAMES, 'ask in the format of other clients, at /v1'),
      stream: flag('print the answer as it arrives'),
    },
    async run(shell, { prompt, file, mode, skills, stream, as }) {
      if (as && mode)
        throw usageFailure('try takes --mode or --as, not both: the formats of other clients have no modes.')
      if (prompt !== undefined && file !== undefined)
        throw usageFailure('try takes a prompt or a file, not both. Leave one out.')
      const words = prompt ?? (file === undefined ? undefined : await readTextFile(shell, file))
      if (words === undefined) throw usageFailure('try needs a PROMPT.', 'svc-admin try "Count to five slowly"')
      const format: Format = as ? FORMATS[as] : OWN
      const body: TryBody = defined({
        ...format.body(words),
        ...(stream && as === 'chat' ? { stream_options: { include_usage: true } } : {}),
        mode: mode || undefined,
        skills: skills || undefined,
        stream: stream || undefined,
      })
      if (shell.planned('send this prompt, and pay for its answer')) return
      const connection = await shell.connect()
      const tenant = await connection.tenant()
      const began = shell.clock.monotonic()
      const answer = await answerOf(shell, tenant, format, body)
      const { host, port } = connection.config
      for (const line of summaryOf(answer, Math.round(shell.clock.monotonic() - began))) shell.note(line)
      shell.note('')
      if (connection.transport.kind === 'local')
        shell.note(
          'No server is running, so this command ran the request itself. To make the call below, start one: svc-admin serve',
        )
      const origin = tenant.url ?? `http://${host}:${port}`
      for (const line of sameCall(body, origin, tenant.keySource, format.path)) shell.note(line)
    },
  })

type TryBody = { stream?: boolean }

/** The summary under an answer (docs/operating.md 4.1): engine, mode, cost, duration. */
export function summaryOf(answer: Answer, ms: number): string[] {
  const { model, mode, resolved_mode, usage, request_id, warnings = [] } = answer
  const facts = [
    `model ${model.id} (${model.label})`,
    `mode ${mode === resolved_mode ? mode : `${mode} → ${resolved_mode}`}`,
    `${spellCents(centsToMicro(usage.cost_cents))}¢`,
    `${usage.total_tokens} tokens  ${ms} ms`,
  ]
  return [
    '',
    clean(facts.join('  ')),
    `request ${clean(request_id)}`,
    ...(usage.cached ? ['served from cache, free'] : []),
    ...warnings.map((warning) => `warning: ${clean(warning)}`),
  ]
}

/** The same call as a curl command, for use without this tool. It never contains the key itself. */
export function sameCall(body: object, origin: string, keySource: string, path = OWN.path): string[] {
  const named = /^SVC_[A-Z_]+$/.test(keySource)
  return [
    'same call:',
    ...(named ? [] : [`  export SVC_API_KEY=$(cat ${quoted(keySource)})`]),
    `  curl ${'stream' in body ? '-N ' : ''}${origin}${path} \\`,
    `    -H "Authorization: Bearer $${named ? keySource : 'SVC_API_KEY'}" \\`,
    '    -H "Content-Type: application/json" \\',
    `    -d ${quoted(safeJson(body), true)}`,
  ]
}

/** Sends one prompt, and prints the answer or its events as they arrive. Returns the facts about the answer. */
async function answerOf(shell: Shell, { target, key }: TenantApi, format: Format, body: TryBody): Promise<Answer> {
  const { timeout } = shell.globals
  const response = await send(target, format.path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: timeout ? AbortSignal.any([shell.signal, AbortSignal.timeout(timeout)]) : shell.signal,
  }).catch((error: Error) => {
    throw replyFailure(0, error)
  })
  if (!response.ok || !response.body) throw replyFailure(response.status, envelopeOf(await response.text()))
  const asText = ['table', 'wide'].includes(formatOf(shell.globals))
  const answer: Wire = body.stream ? await readEvents(shell, response.body, format, asText) : await response.json()
  if (!body.stream && asText) shell.io.out(clean(format.textOf(answer)))
  else if (!body.stream) shell.print.item(answer, tryPrompt.columns!)
  if (format === OWN) return answer
  const { svc_metadata: facts, usage = {} } = answer
  const { total_tokens = usage.input_tokens + usage.output_tokens } = usage
  return {
    ...facts,
    model: { id: answer.model, label: facts.engine },
    usage: { cost_cents: facts.cost_cents, total_tokens },
    request_id: answer.request_id ?? response.headers.get('x-request-id'),
  }
}

/** The error body, with its code in the place that every other format uses. */
function envelopeOf(text: string): Wire {
  const { error, ...rest } = (jsonIn(text) ?? {}) as Wire
  return error ? { ...rest, error: { ...error, code: error.details?.error_code ?? error.code } } : text
}

/**
 * Prints the events of a stream: their text in table format, one JSON event per line in every other.
 * @throws CommandFailed when the stream ends with an error, or without its end event
 */
async function readEvents(shell: Shell, stream: ReadableStream, format: Format, asText: boolean): Promise<Wire> {
  let facts: Wire = {}
  const onEvent = ({ event: name, data: text }: EventSourceMessage) => {
    if (text === '[DONE]') return
    const data = JSON.parse(text)
    const failed = data.error ?? data.response?.error
    if (failed) throw replyFailure(500, envelopeOf(safeJson({ error: failed })))
    facts = { ...facts, ...format.factsOf(data) }
    const piece = format.pieceOf(data)
    if (!asText) shell.io.out(safeJson(format === OWN ? { event: name, data } : data))
    else if (piece) shell.io.raw(clean(piece))
  }
  const parser = createParser({ onEvent })
  const decoder = new TextDecoder()
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>)
    parser.feed(decoder.decode(chunk, { stream: true }))
  if (asText) shell.io.raw('\n')
  if (format === OWN ? facts.usage : facts.svc_metadata) return facts
  throw streamCut()
}
