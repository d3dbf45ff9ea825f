import { centsToMicro, spellCents } from '../../src/kernel/money'
import { clean } from '../../src/kernel/text'
import { defined } from '../api'
import { commandsOf } from '../command'
import { expectData, replyFailure, streamCut, usageFailure } from '../failure'
import { readTextFile } from '../files'
import { formatOf } from '../globals'
import { columnsOf } from '../output/columns'
import { safeJson } from '../output/json'
import type { Shell } from '../shell'
import type { TenantApi } from '../transport'
import { choice, flag, list, optional, text } from '../words'
import { answerAs, eachEvent, FORMAT_NAMES, FORMATS, post } from './try-as'

const command = commandsOf('', { apis: ['operator', 'tenant'], exits: [] })

export type TryBody = { prompt: string; mode?: string; skills?: string[]; stream?: boolean }

/** The facts of a completion, whole or streamed. */
export type Answer = {
  id: string
  content: string
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

export const tryPrompt = command`try: Send one prompt and print the answer, its cost and the same call as curl
  Sends the request that a client would send. The key comes from --key-file or SVC_API_KEY. Without either, it is the key in data/dev-key, which the first start created. The answer goes to stdout and everything about it to stderr. If no server runs, the command opens the data folder and runs the request itself.
  $ try "Count to five slowly"
  $ try "Count to five" --as messages
  $ try "A lighthouse by the sea" --as images
  $ try "Count to five" --stream
  $ try -f question.txt --mode think --json`({
  impact: 'write',
  exits: [3, 6],
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
    if (as && stream && 'mode' in FORMATS[as])
      throw usageFailure(`try takes no --stream with --as ${as}: the answer comes whole.`)
    const words = await promptOf(shell, prompt, file)
    const streamed = stream && as === 'chat' ? { stream_options: { include_usage: true } } : {}
    const body: object = defined({
      ...(as ? { ...FORMATS[as].body(words), ...streamed } : { prompt: words }),
      mode: mode || undefined,
      skills: skills || undefined,
      stream: stream || undefined,
    })
    if (shell.planned('send this prompt, and pay for its answer')) return
    const connection = await shell.connect()
    const tenant = await connection.tenant()
    const began = shell.clock.monotonic()
    const ask = stream ? streamAnswer : wholeAnswer
    const answer = await (as ? answerAs(shell, tenant, as, body) : ask(shell, tenant, body as TryBody))
    const ms = Math.round(shell.clock.monotonic() - began)
    const { host, port } = connection.config
    for (const line of summaryOf(answer, ms)) shell.note(line)
    shell.note('')
    if (connection.transport.kind === 'local')
      shell.note(
        'No server is running, so this command ran the request itself. To make the call below, start one: svc-admin serve',
      )
    const path = as ? `/v1${FORMATS[as].path}` : '/api/v1/completions'
    for (const line of sameCall(body, tenant.url ?? `http://${host}:${port}`, tenant.keySource, path)) shell.note(line)
  },
})

async function promptOf(shell: Shell, prompt: string | undefined, file: string | undefined): Promise<string> {
  if (prompt !== undefined && file !== undefined)
    throw usageFailure('try takes a prompt or a file, not both. Leave one out.')
  if (prompt !== undefined) return prompt
  if (file === undefined) throw usageFailure('try needs a PROMPT.', 'svc-admin try "Count to five slowly"')
  return readTextFile(shell, file)
}

async function wholeAnswer(shell: Shell, { client }: TenantApi, body: TryBody): Promise<Answer> {
  const reply = await client.completions.post(body as Parameters<typeof client.completions.post>[0])
  const answer = expectData(reply) as unknown as Answer
  if (['table', 'wide'].includes(formatOf(shell.globals))) shell.io.out(clean(answer.content))
  else shell.print.item(answer, tryPrompt.columns!)
  return answer
}

/** The summary under an answer (docs/operating.md 4.1): engine, mode, cost, duration. */
export function summaryOf(
  { model, mode, resolved_mode, usage, request_id, warnings = [] }: Answer,
  ms: number,
): string[] {
  const route = mode === resolved_mode ? mode : `${mode} → ${resolved_mode}`
  const cost = `${spellCents(centsToMicro(usage.cost_cents))}¢`
  const facts = [
    `model ${model.id} (${model.label})`,
    `mode ${route}`,
    cost,
    `${usage.total_tokens} tokens`,
    `${ms} ms`,
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
export function sameCall(
  body: TryBody | { stream?: boolean },
  origin: string,
  keySource: string,
  path = '/api/v1/completions',
): string[] {
  const named = /^SVC_[A-Z_]+$/.test(keySource)
  return [
    'same call:',
    ...(named ? [] : [`  export SVC_API_KEY=$(cat ${quoted(keySource)})`]),
    `  curl ${body.stream ? '-N ' : ''}${origin}${path} \\`,
    `    -H "Authorization: Bearer $${named ? keySource : 'SVC_API_KEY'}" \\`,
    '    -H "Content-Type: application/json" \\',
    `    -d ${quoted(safeJson(body), true)}`,
  ]
}

/**
 * Prints an answer while it arrives: plain text in table format, one JSON event per line in every other.
 * @throws CommandFailed when the stream ends with an error, or without its end event
 */
async function streamAnswer(shell: Shell, tenant: TenantApi, body: TryBody): Promise<Answer> {
  const response = await post(shell, tenant, '/api/v1/completions', body)
  if (!response.ok || !response.body) throw replyFailure(response.status, await response.text())
  const frames: Record<string, Partial<Answer>> = {}
  const asText = ['table', 'wide'].includes(formatOf(shell.globals))
  await eachEvent(response.body, ({ event = '', data: text }) => {
    const data = JSON.parse(text)
    if (event === 'error') throw replyFailure(500, data)
    frames[event] = data
    if (!asText) shell.io.out(safeJson({ event, data }))
    else if (event === 'token') shell.io.raw(clean(String(data.token)))
  })
  if (asText) shell.io.raw('\n')
  const { meta, done } = frames
  if (meta && done) return { ...meta, ...done } as Answer
  throw streamCut()
}
