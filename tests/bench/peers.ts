/**
 * What the product is measured against, each in a process of its own: `upstream` answers chat
 * completions and embeddings at once, `tools` calls a tool five times first, `forward` passes bytes on and checks
 * nothing, `paced` streams 50 tokens a second, `get` answers a GET.
 */
const [role, target = ''] = process.argv.slice(2)

const WORDS = Array.from({ length: 200 }, (_, place) => ` word${place}`)
const USAGE = { prompt_tokens: 20, completion_tokens: 12, total_tokens: 32 }
const ANSWER = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  created: 0,
  model: 'bench',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'The answer is forty-two, as ever it was.' },
      finish_reason: 'stop',
    },
  ],
  usage: USAGE,
})
const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 0, model: 'bench', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const FRAMES = [
  chunk({ role: 'assistant', content: '' }),
  ...WORDS.map((content) => chunk({ content })),
  chunk({}, 'stop'),
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 0, model: 'bench', choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`,
]
const JSON_HEADERS = { 'content-type': 'application/json' }
const SSE_HEADERS = { 'content-type': 'text/event-stream' }

async function* frames() {
  for (const frame of FRAMES) yield frame
}

/** A token every 20 ms, each in a read of its own. */
async function* pacedFrames() {
  for (const frame of FRAMES) {
    await Bun.sleep(20)
    yield frame
  }
}

/** As many numbers as common models give, of 32 bits, in as many digits as servers write. */
const NUMBERS = Array.from({ length: 1_536 }, (_, at) => Number((Math.sin(at + 1) / 40).toPrecision(8)))
const VECTOR = JSON.stringify({
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: NUMBERS }],
  usage: { prompt_tokens: 220, total_tokens: 220 },
})

async function upstream(request: Request): Promise<Response> {
  if (request.method === 'GET') return Response.json({ object: 'list', data: [] })
  if (request.url.endsWith('/embeddings')) return new Response(VECTOR, { headers: JSON_HEADERS })
  const { stream } = (await request.json()) as { stream?: boolean }
  if (!stream) return new Response(ANSWER, { headers: JSON_HEADERS })
  return new Response(frames() as unknown as BodyInit, { headers: SSE_HEADERS })
}

const MESSAGE = { role: 'assistant', content: null, tool_calls: [] as object[] }
MESSAGE.tool_calls = [{ id: 'c', type: 'function', function: { name: 'look_up', arguments: '{"topic":"tides"}' } }]
const CALL = JSON.stringify({ choices: [{ index: 0, message: MESSAGE, finish_reason: 'tool_calls' }], usage: USAGE })

async function tools(request: Request): Promise<Response> {
  if (request.method === 'GET') return Response.json({ object: 'list', data: [] })
  const { messages } = (await request.json()) as { messages: { role: string }[] }
  const done = messages.filter(({ role }) => role === 'tool').length >= 5
  return new Response(done ? ANSWER : CALL, { headers: JSON_HEADERS })
}

const forward = async (request: Request): Promise<Response> => {
  const reply = await fetch(`${target}/chat/completions`, {
    method: 'POST',
    body: await request.text(),
    headers: JSON_HEADERS,
  })
  return new Response(reply.body, { headers: { 'content-type': reply.headers.get('content-type') ?? '' } })
}

type Answer = (request: Request) => Response | Promise<Response>

const ROLES: Record<string, Answer> = {
  upstream,
  tools,
  forward,
  paced: async (request) =>
    request.method === 'GET'
      ? Response.json({ object: 'list', data: [] })
      : new Response(pacedFrames() as unknown as BodyInit, { headers: SSE_HEADERS }),
  get: () => Response.json({ object: 'list', data: ['a', 'b'] }),
}

const answer = ROLES[role ?? '']!
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 255, fetch: answer })
process.stdout.write(`${server.port}\n`)
