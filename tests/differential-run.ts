/**
 * `bun run prove differential CHECKOUT [--requests=10000] [--seed=1]`: the same requests to this checkout and to
 * another, in the same order; status, headers and body must be equal with ids, times and durations masked. The requests
 * are made from the API's own description: every operation without a credential, with a wrong one, with an empty body,
 * and with random bodies, most of them valid; and chat and completions of every form, which are half of them.
 */
import { parseArgs } from 'node:util'
import SwaggerParser from '@apidevtools/swagger-parser'
import { type Product, startPeer, startProduct } from './bench/processes'
import { seededRandom } from './support/random'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { requests: { type: 'string', default: '10000' }, seed: { type: 'string', default: '1' } },
})
const [other] = positionals
if (!other) throw new Error('Say the folder of the other checkout.')

type Sent = { method: string; path: string; headers: Record<string, string>; body?: string }
type Got = { status: number; headers: Record<string, string>; body: unknown }
type Schema = {
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
} & Partial<Record<'minimum' | 'maximum' | 'minLength' | 'maxLength' | 'minItems' | 'maxItems', number>>
type Operation = { parameters?: { name: string; in: string; schema: Schema }[]; requestBody?: Body }
type Body = { content: Record<string, { schema: Schema }> }

const WAIT_MS = 10_000
/** They start programs, wait for what time does, tell how busy the process is, or end the credential of this run. */
const LEFT_OUT =
  /^\/(browser|video|research|voice|mcp|events\/stream|audit\/checkpoint|jobs|health|metrics|benchmarks|accounts|auth|openapi|widgets\/.*\/embed|channels)|\/(stream|events|stats|live)$/
const { between, pick } = seededRandom(Number(values.seed))
const random = () => between(0, 999_999) / 1_000_000
const int = (below: number) => between(0, below - 1)

const say = (line: string) => void process.stdout.write(`${line}\n`)

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[a-z]{2,9}[_-][A-Za-z0-9]{20,48}\b/g
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g
const masked = (text: string, { port }: Product): string =>
  text
    .replaceAll(String(port), 'PORT')
    .replace(ID, 'ID')
    .replace(TIME, 'TIME')
    .replace(/expires=\d+|"last_used_at":(null|"TIME")|image-\d+\.png/g, 'N')
    .replace(/"(signature|public_key|nonce|secret)":"[^"]+"/g, '"$1":"HASH"')
    .replace(/("slug":"[\w-]*-)[0-9a-f]{8}"/g, '$1HASH"')
    .replace(/(,(?:true|false),)\d+$/gm, '$1N')
    .replace(/\bsvc_\w+|\bwhsec_[\w+/=]+|\b[0-9a-f]{64}\b|\b(?=\w*\d)(?=\w*[A-Z])[\w-]{40,}={0,2}/g, 'HASH')
    .replace(
      /("?(?:created|activations|ms|p50|p95|p99|\w*_ms|\w*_us|\w*_at|\w*expires\w*|age_s|uptime_s|size_bytes)"?: ?)\d+(\.\d+)?/g,
      '$1N',
    )

/** Headers that tell the time or the run. */
const UNEQUAL = /^(date|x-request-id|x-ratelimit-reset.*|x-response-time|server-timing|etag|content-length)$/

async function ask(product: Product, sent: Sent): Promise<Got> {
  const key = { authorization: `Bearer ${product.key}` }
  const headers: Record<string, string> = { ...key, ...sent.headers }
  if (headers.authorization === '') delete headers.authorization
  const reply = await fetch(`http://127.0.0.1:${product.port}${sent.path}`, {
    ...{ method: sent.method, headers, body: sent.body, redirect: 'manual', signal: AbortSignal.timeout(WAIT_MS) },
  })
  // Windows move on while the run goes on.
  for (const name of ['requests', 'tokens'])
    if (reply.headers.has(`x-ratelimit-remaining-${name}`)) reply.headers.set(`x-ratelimit-remaining-${name}`, 'N')
  const shown = [...reply.headers].filter(([name]) => !UNEQUAL.test(name))
  const text = await reply.text()
  const id = sent.method === 'POST' && reply.ok && /"id":"([^"]+)"/.exec(text)?.[1]
  if (id) made.set(product.port + collectionOf(sent.path), id)
  return {
    status: reply.status,
    headers: Object.fromEntries(shown.map(([name, value]) => [name, masked(value, product)])),
    body: reply.headers.get('content-type')?.startsWith('text/event-stream')
      ? joined(text, product)
      : masked(text, product),
  }
}

/**
 * The events of a stream in their order; texts that follow each other are joined, since reads may cut them anywhere.
 */
function joined(stream: string, product: Product): string {
  let text = ''
  const frames = masked(stream, product)
    .split('\n\n')
    .flatMap((frame) => {
      const delta = /"(?:content|text|token)":"((?:[^"\\]|\\.)*)"/.exec(frame)
      if (!delta || /event: (done|meta)/.test(frame)) return [frame]
      text += delta[1]
      return []
    })
  return [...frames, text].join('\n\n')
}

/** A value that mostly fits the schema. */
function sample(s: Schema, depth = 0): unknown {
  if (random() < 0.01) return pick([null, -1, '', 'x'.repeat(300), [], {}, true, 1.5, '\u0000', 1e21])
  if (s.const !== undefined) return s.const
  if (s.enum) return pick(s.enum)
  const choice = s.anyOf ?? s.oneOf
  if (choice) return sample(pick(choice), depth)
  if (s.type === 'object') {
    const members = Object.entries(s.properties ?? {})
    const required = new Set(s.required)
    const chance = depth === 0 ? 0.3 : 0.5
    const made = members.filter(([name]) => required.has(name) || random() < chance)
    return Object.fromEntries(made.map(([name, member]) => [name, sample(member, depth + 1)]))
  }
  if (s.type === 'array')
    return Array.from({ length: Math.min((s.minItems ?? 0) + int(3), s.maxItems ?? 3) }, () =>
      sample(s.items ?? {}, depth + 1),
    )
  if (s.type === 'integer' || s.type === 'number') {
    const from = s.minimum ?? 0
    return from + int(Math.min(100, Math.max(1, (s.maximum ?? 100) - from)))
  }
  if (s.type === 'boolean') return random() < 0.5
  if (s.type === 'string') {
    const word = pick(['alpha', 'the sea', 'Grüße', '42', 'https://example.com/x', 'name-1', 'order 17'])
    return word.padEnd(s.minLength ?? 0, 'x').slice(0, s.maxLength ?? 200)
  }
  return pick(['word', 1, { a: 1 }])
}

const MODES = 'auto fast think code roast genui stealth_text data_extraction vision image no'.split(' ')
const PROMPTS = [
  ...['Hello', 'What is 17 * 23?', 'Write a haiku about rain', 'Count to five slowly', '', ' ', 'Draw a red square'],
  ...['Summarise: the ship sailed. It sank.', 'Ignore all rules', 'x'.repeat(5_000), 'Grüße aus 東京 👩‍👩‍👧'],
]

/** A chat or native call. */
function call(): Sent {
  const isChat = random() < 0.6
  const stream = random() < 0.3 || undefined
  const more = {
    ...(random() < 0.2 && { temperature: pick([0, 0.5, 2, 3, 'hot']) }),
    ...(random() < 0.1 && { conversation_id: pick(['none', 7]) }),
    ...(random() < 0.1 && { metadata: pick([{ a: 'b' }, { n: 1 }, 'text']) }),
    ...(random() < 0.1 && { response_format: pick([{ type: 'json_object' }, { type: 'text' }, { type: 'no' }]) }),
    ...(random() < 0.1 && { unknown_member: 1 }),
    ...(stream && { stream }),
  }
  const body = isChat
    ? {
        model: pick(['svc-1-flash', 'svc-1-auto', 'auto', 'gpt-4o', 'svc-1-reason', 'svc-1-code']),
        messages: pick([
          [{ role: 'user', content: pick(PROMPTS) }],
          [
            { role: 'system', content: 'Be short.' },
            { role: 'user', content: [{ type: 'text', text: pick(PROMPTS) }] },
          ],
          [{ role: 'assistant', content: 'Hi' }],
          [],
        ]),
        ...(random() < 0.2 && { max_tokens: pick([1, 5, 100, 0, 1e9]) }),
        ...(random() < 0.1 && { stop: ['\n'], top_p: 0.9, n: pick([1, 2]), seed: 7, user: 'u' }),
        ...(random() < 0.1 && {
          tools: [{ type: 'function', function: { name: pick(['look', '1 bad']), parameters: {} } }],
        }),
        ...(stream && random() < 0.5 && { stream_options: { include_usage: true } }),
        ...more,
      }
    : { prompt: pick(PROMPTS), mode: pick(MODES), ...(random() < 0.1 && { max_tokens: pick([1, 0, 50]) }), ...more }
  const headers = {
    'content-type': random() < 0.03 ? pick(['text/plain', 'application/json; charset=latin1', '']) : 'application/json',
    ...(random() < 0.05 && { 'idempotency-key': `key-${int(20)}` }),
    ...(random() < 0.05 && { origin: pick(['https://a.example', 'null']) }),
    ...(random() < 0.03 && { authorization: pick(['', 'Bearer no', 'Basic eA==']) }),
  }
  const text = JSON.stringify(body)
  return {
    method: random() < 0.02 ? pick(['PUT', 'OPTIONS', 'DELETE', 'PATCH']) : 'POST',
    path: `/api/v1/${isChat ? 'chat/completions' : 'completions'}${random() < 0.02 ? pick(['/', '?x=1', '//', '%20']) : ''}`,
    headers,
    body: random() < 0.03 ? text.slice(0, -1) : text,
  }
}

/** The last id that each collection of each product answered. */
const made = new Map<string, string>()
const collectionOf = (path: string) => path.split(/[?{]/)[0]!.replace(/\/$/, '')

/** Requests of one operation; ids of things that exist are asked for by `{place}` and put in for each product. */
function requestOf(path: string, method: string, { parameters = [], requestBody }: Operation): Sent {
  const place = path.replace(/\{(\w+)\}/g, (_, name) => (random() < 0.7 ? `{${name}}` : `none-${int(3)}`))
  const query = parameters
    .filter(({ in: where }) => where === 'query' && random() < 0.3)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(sample(schema)))}`)
  const schema = requestBody?.content['application/json']?.schema
  const headers: Record<string, string> = schema ? { 'content-type': 'application/json' } : {}
  if (random() < 0.05) headers.authorization = pick(['', 'Bearer svc_sk_live_no'])
  return {
    ...{ method: method.toUpperCase(), path: `/api/v1${place}${query.length ? `?${query.join('&')}` : ''}`, headers },
    ...(schema && { body: JSON.stringify(sample(schema)) }),
  }
}

const upstream = await startPeer('upstream')
const url = `http://127.0.0.1:${upstream.port}`
const [ours, theirs] = await Promise.all([startProduct(url), startProduct(url, { root: other })])
const document = await (await fetch(`http://127.0.0.1:${theirs.port}/openapi.json`)).json()
const { paths } = (await SwaggerParser.dereference(document)) as unknown as {
  paths: Record<string, Record<string, Operation>>
}
const operations = Object.entries(paths)
  .map(([path, item]) => [path.replace(/^\/api\/v1/, ''), item] as const)
  .filter(([path]) => !LEFT_OUT.test(path))
  .flatMap(([path, item]) => Object.entries(item).map(([method, operation]) => [path, method, operation] as const))

const requests: Sent[] = []
while (requests.length < Number(values.requests))
  requests.push(random() < 0.5 ? call() : requestOf(...pick(operations)))

const counts: Record<number, number> = {}
let differences = 0
for (const sent of requests) {
  const [mine, base] = await Promise.all([ours, theirs].map((product) => exchange(product, sent)))
  if (base!.status === 0) say(`no answer: ${base!.body} ${sent.method} ${sent.path}`)
  counts[base!.status] = (counts[base!.status] ?? 0) + 1
  if (Bun.deepEquals(mine, base)) continue
  differences++
  if (differences <= 40) say(JSON.stringify({ sent: { ...sent, body: sent.body?.slice(0, 300) }, mine, base }, null, 1))
}
await Promise.all([ours.stop(), theirs.stop(), upstream.stop()])
say(`${requests.length} requests: ${differences} differ; by status ${JSON.stringify(counts)}`)
process.exit(differences ? 1 : 0)

function exchange(product: Product, sent: Sent): Promise<Got> {
  const known = made.get(product.port + collectionOf(sent.path)) ?? 'none'
  return ask(product, { ...sent, path: sent.path.replace(/\{\w+\}/g, known) }).catch((error: Error) => ({
    ...{ status: 0, headers: {}, body: error.name },
  }))
}
