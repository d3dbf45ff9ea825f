/**
 * The least that answers of the contract cost: what any server has to do for them, and nothing else. They
 * check nothing, know nobody and limit nothing; what the product takes beyond them is what the product does.
 */
import { Elysia } from 'elysia'
import { openRecords, type Records } from './records'

type Chat = { messages: { content: string }[] }
type Chunk = { choices: { delta: object; finish_reason: string | null }[]; usage?: object }
type Answer = (request: Request) => Response | Promise<Response>

const SSE_HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }

/** The headers that every answer has (contract 1.3). */
const headersOf = (id: string, calls: number) => ({
  'x-request-id': id,
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'x-ratelimit-limit-requests': '100000',
  'x-ratelimit-remaining-requests': String(100_000 - (calls % 1_000)),
  'x-ratelimit-reset-requests': '60s',
  'x-ratelimit-limit-tokens': '100000',
  'x-ratelimit-remaining-tokens': String(100_000 - (calls % 1_000)),
  'x-ratelimit-reset-tokens': '60s',
})

let calls = 0
const nextId = () => `req_${String(++calls).padStart(24, '0')}`

/** `GET /models`: the framework, the headers and a list of the product's length. */
export function listModels(): Answer {
  const models = Array.from({ length: 12 }, (_, n) => ({ mode: `mode_${n}`, id: `svc-1-engine-${n}` }))
  const entries = () =>
    models.map(({ mode, id }) => ({
      mode,
      model_id: id,
      label: 'An engine',
      engine: 'svc',
      status: 'available',
      description: 'What this engine is good for, said in one sentence of usual length.',
    }))
  const list = () => models.map(({ id }) => ({ id, object: 'model', created: 0, owned_by: 'svc' }))
  return new Elysia()
    .onRequest(({ set }) => {
      Object.assign(set.headers, headersOf(nextId(), calls))
    })
    .get('/', () => ({ models: entries(), object: 'list', data: list(), request_id: nextId() })).fetch
}

/** An answer that is remembered: its own rows (usage and the record) and its headers. */
export async function answerFromMemory(): Promise<Answer> {
  const { tell, durable } = await openRecords()
  return async (request) => {
    const { prompt } = (await request.json()) as { prompt: string }
    const id = nextId()
    tell(id, prompt, { prompt_tokens: 0, completion_tokens: 0 }, 0)
    await durable()
    const answer = { id, object: 'completion', content: prompt, mode: 'fast', cached: true, request_id: id }
    return Response.json(answer, { headers: headersOf(id, calls) })
  }
}

/** A chat completion: forwarded, paid for and recorded. */
export async function keepRecords(target: string): Promise<Answer> {
  const { hold, settle, tell, durable } = await openRecords()
  return async (request) => {
    const body = (await request.json()) as Chat
    const ref = nextId()
    hold(ref)
    const reply = await send(target, body)
    const { choices, usage } = (await reply.json()) as { choices: unknown[]; usage: Parameters<Records['tell']>[2] }
    settle(ref)
    tell(ref, body.messages[0]!.content, usage, 500)
    await durable()
    return Response.json({ id: ref, object: 'chat.completion', created: 0, model: 'bench', choices, usage })
  }
}

/** A stream that is told again: each event is read, and goes out under the product's own id and model. */
export function retell(target: string): Answer {
  return async (request) => {
    const reply = await send(target, (await request.json()) as Chat)
    return new Response(retold(reply.body!) as unknown as BodyInit, { headers: SSE_HEADERS })
  }
}

async function* retold(upstream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const head = { id: nextId(), object: 'chat.completion.chunk', created: 0, model: 'svc-1-flash' }
  let pending = ''
  for await (const bytes of upstream) {
    const events = (pending + decoder.decode(bytes, { stream: true })).split('\n\n')
    pending = events.pop()!
    for (const event of events) yield `data: ${again(event.slice('data: '.length), head)}\n\n`
  }
}

function again(data: string, head: object): string {
  if (data === '[DONE]') return data
  const { choices, usage } = JSON.parse(data) as Chunk
  return JSON.stringify({ ...head, choices, ...(usage ? { usage } : {}) })
}

const send = (target: string, body: Chat): Promise<Response> =>
  fetch(`${target}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ ...body, model: 'bench' }),
    headers: { 'content-type': 'application/json' },
  })
