/**
 * A small server in the formats of `bar.mjs`, written from the documents of the vendors and not from svc: whatever passes
 * here and fails there is a fault of svc. `bun fake.mjs` prints its address; any key but `svc_sk_live_none` is taken.
 */
const MODEL = 'svc-1-flash'
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const now = () => Math.floor(Date.now() / 1_000)
let made = 0
const newId = (prefix) => `${prefix}${String(++made).padStart(24, '0')}`
const store = { responses: new Map(), files: new Map(), batches: new Map(), conversations: new Map() }

const json = (body, status = 200) =>
  Response.json(body, { status, headers: { 'x-request-id': newId('req_'), 'request-id': newId('req_') } })
const refuse = (status, code, message, param = null) =>
  json({ error: { message, type: 'invalid_request_error', code, param }, type: 'error' }, status)
const missing = () => refuse(404, 'not_found', 'There is no such thing.')

/** Events as a stream; the name of each is its `type`, where the format wants one. */
function streamed(events, { named = true, done = false } = {}) {
  const frames = events.map((event) => `${named ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
  return new Response(frames.join('') + (done ? 'data: [DONE]\n\n' : ''), {
    headers: { 'content-type': 'text/event-stream', 'x-request-id': newId('req_') },
  })
}

/** What the words of a prompt want: a call, or a text. */
function answerTo(text, tools, hasResult, wantsPerson) {
  const name = tools.find((one) => text.includes(one)) ?? tools[0]
  if (name && !hasResult)
    return { name, input: name === 'get_weather' ? { location: 'Oslo' } : { name: 'Ada', age: 36 } }
  if (wantsPerson || text.includes('Write a person')) return { text: '{"name":"Ada","age":36}' }
  return { text: hasResult ? 'Oslo: Snow.' : 'Hello, keeper.' }
}
const textIn = (content) =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join(' ')
const lastUser = (turns) => textIn(turns.findLast(({ role, content }) => role === 'user' && textIn(content))?.content)

const COUNTS = {
  ...{ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, prompt_tokens_details: { cached_tokens: 0 } },
  completion_tokens_details: { reasoning_tokens: 0 },
}

function chat(body) {
  if (!Array.isArray(body.messages)) return refuse(400, 'validation_error', '"messages" must be a list.', 'messages')
  const tools = (body.tools ?? []).map((tool) => tool.function.name)
  const hasResult = body.messages.at(-1).role === 'tool'
  const found = answerTo(lastUser(body.messages), tools, hasResult, body.response_format?.type.startsWith('json'))
  const id = newId('chatcmpl_')
  const called = found.name && {
    ...{ id: newId('call_'), type: 'function' },
    function: { name: found.name, arguments: JSON.stringify(found.input) },
  }
  const short = (body.max_completion_tokens ?? body.max_tokens ?? 100) < 10
  const finish_reason = called ? 'tool_calls' : short ? 'length' : 'stop'
  if (!body.stream) {
    const message = {
      role: 'assistant',
      content: found.text ?? null,
      refusal: null,
      ...(called && { tool_calls: [called] }),
    }
    const choices = [{ index: 0, message, finish_reason, logprobs: null }]
    return json({ id, object: 'chat.completion', created: now(), model: MODEL, choices, usage: COUNTS })
  }
  const chunk = (choices, more = {}) => ({
    ...{ id, object: 'chat.completion.chunk', created: now(), model: MODEL, choices, ...more },
  })
  const delta = called ? { tool_calls: [{ index: 0, ...called }] } : { content: found.text }
  const events = [
    chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
    chunk([{ index: 0, delta, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason }]),
    ...(body.stream_options?.include_usage ? [chunk([], { usage: COUNTS })] : []),
  ]
  return streamed(events, { named: false, done: true })
}

function respond(body) {
  const input = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input
  const tools = (body.tools ?? []).map(({ name }) => name)
  const hasResult = input.at(-1).type === 'function_call_output'
  const found = answerTo(lastUser(input), tools, hasResult, body.text?.format?.type === 'json_schema')
  const part = { type: 'output_text', text: found.text, annotations: [], logprobs: [] }
  const item = found.name
    ? {
        ...{ id: newId('fc_'), type: 'function_call', status: 'completed', call_id: newId('call_') },
        ...{ name: found.name, arguments: JSON.stringify(found.input) },
      }
    : { id: newId('msg_'), type: 'message', status: 'completed', role: 'assistant', content: [part] }
  const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } }
  const whole = {
    ...{ id: newId('resp_'), object: 'response', created_at: now(), status: 'completed', model: MODEL, output: [item] },
    ...{ error: null, incomplete_details: null, instructions: null, metadata: {}, parallel_tool_calls: true },
    ...{ temperature: 1, top_p: 1, tools: body.tools ?? [], tool_choice: 'auto', text: body.text ?? {} },
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15, ...details },
  }
  store.responses.set(whole.id, whole)
  if (!body.stream) return json(whole)
  const begun = { ...whole, status: 'in_progress', output: [], usage: null }
  const at = { item_id: item.id, output_index: 0, content_index: 0 }
  const inner = found.name
    ? [
        { type: 'response.function_call_arguments.delta', item_id: item.id, output_index: 0, delta: item.arguments },
        { type: 'response.function_call_arguments.done', item_id: item.id, output_index: 0, arguments: item.arguments },
      ]
    : [
        { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
        { type: 'response.output_text.delta', ...at, delta: found.text, logprobs: [] },
        { type: 'response.output_text.done', ...at, text: found.text, logprobs: [] },
        { type: 'response.content_part.done', ...at, part },
      ]
  const empty = { ...item, status: 'in_progress', ...(found.name ? { arguments: '' } : { content: [] }) }
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    { type: 'response.output_item.added', output_index: 0, item: empty },
    ...inner,
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: whole },
  ]
  return streamed(events.map((event, sequence_number) => ({ ...event, sequence_number })))
}

function message(body) {
  if (!body.max_tokens) return refuse(400, 'validation_error', '"max_tokens" is missing.', 'max_tokens')
  const last = body.messages.at(-1)
  const hasResult = Array.isArray(last.content) && last.content.some(({ type }) => type === 'tool_result')
  const tools = (body.tools ?? []).map(({ name }) => name)
  const isForm = body.output_config?.format ?? body.output_format
  const found = answerTo(lastUser(body.messages), tools, hasResult, isForm)
  const block = found.name
    ? { type: 'tool_use', id: newId('toolu_'), name: found.name, input: found.input }
    : { type: 'text', text: found.text, citations: null }
  const cached = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  const whole = {
    ...{ id: newId('msg_'), type: 'message', role: 'assistant', model: MODEL, content: [block], stop_sequence: null },
    ...{ stop_reason: found.name ? 'tool_use' : 'end_turn', usage: { input_tokens: 10, output_tokens: 5, ...cached } },
  }
  if (!body.stream) return json(whole)
  const delta = found.name
    ? { type: 'input_json_delta', partial_json: JSON.stringify(found.input) }
    : { type: 'text_delta', text: found.text }
  return streamed([
    { type: 'message_start', message: { ...whole, content: [], stop_reason: null } },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { ...block, ...(found.name ? { input: {} } : { text: '' }) },
    },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: whole.stop_reason, stop_sequence: null }, usage: whole.usage },
    { type: 'message_stop' },
  ])
}

function embed({ input, encoding_format }) {
  const texts = [input].flat()
  const vectors = texts.map((text) => Float32Array.from({ length: 512 }, (_, at) => (text.length + at) / 1_024))
  const data = vectors.map((vector, index) => ({
    ...{ object: 'embedding', index },
    embedding: encoding_format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector],
  }))
  return json({ object: 'list', data, model: 'fake', usage: { prompt_tokens: 2, total_tokens: 2 } })
}

function draw({ model = '', n = 1 }) {
  if (n > 4) return refuse(400, 'validation_error', '"n" is over 4.', 'n')
  const picture = model.startsWith('gpt-image') ? { b64_json: PIXEL } : { url: `http://127.0.0.1/${made}.png` }
  return json({ created: now(), data: Array(n).fill(picture) })
}

function keep(bytes, filename, purpose) {
  const id = newId('file-')
  const file = { id, object: 'file', bytes: bytes.length, created_at: now(), filename, purpose, status: 'processed' }
  store.files.set(id, { file, bytes })
  return file
}

async function runBatch({ input_file_id, endpoint, completion_window }) {
  const lines = Buffer.from(store.files.get(input_file_id).bytes).toString().trim().split('\n')
  const out = []
  for (const { custom_id, body } of lines.map((line) => JSON.parse(line))) {
    const response = { status_code: 200, request_id: newId('req_'), body: await chat(body).json() }
    out.push(JSON.stringify({ id: newId('batch_req_'), custom_id, response, error: null }))
  }
  const batch = {
    ...{ id: newId('batch_'), object: 'batch', endpoint, input_file_id, completion_window, status: 'completed' },
    ...{ created_at: now(), output_file_id: keep(Buffer.from(out.join('\n')), 'out.jsonl', 'batch_output').id },
    ...{ error_file_id: null, request_counts: { total: out.length, completed: out.length, failed: 0 } },
  }
  store.batches.set(batch.id, batch)
  return json(batch)
}

const listed = (data, has_more = false) =>
  json({ object: 'list', data, has_more, first_id: data[0]?.id, last_id: data.at(-1)?.id })
const modelOf = (id) => ({
  id,
  object: 'model',
  type: 'model',
  created: 0,
  created_at: '2026-01-01T00:00:00Z',
  owned_by: 'x',
  display_name: id,
})

/** What has no body to read but its path. */
function read(method, kind, id, more, url) {
  if (kind === 'models') {
    if (!id) return listed([modelOf(MODEL)])
    return id === MODEL ? json(modelOf(id)) : missing()
  }
  const rows = store[kind]
  if (!rows) return missing()
  if (!id) {
    const all = [...rows.values()].map((row) => row.file ?? row).reverse()
    const from = all.findIndex((row) => row.id === url.searchParams.get('after')) + 1
    const limit = Number(url.searchParams.get('limit') ?? 20)
    return listed(all.slice(from, from + limit), from + limit < all.length)
  }
  const row = rows.get(id)
  if (!row) return missing()
  if (more === 'content') return new Response(row.bytes)
  if (more === 'items') return listed(row.items)
  if (method === 'DELETE') rows.delete(id)
  return json(method === 'DELETE' ? { id, object: kind, deleted: true } : (row.file ?? row))
}

async function answer(request) {
  const url = new URL(request.url)
  const { headers, method } = request
  const key =
    headers.get('authorization')?.slice('Bearer '.length) ?? headers.get('x-api-key') ?? headers.get('api-key')
  if (!key || key === 'svc_sk_live_none') return refuse(401, 'invalid_api_key', 'This key is not known.')
  const path = url.pathname.replace(/^\/(?:v1|openai\/deployments\/[^/]+)\//, '')
  const [kind, id, more] = path.split('/')
  if (method !== 'POST') return read(method, kind, id, more, url)
  const isForm = headers.get('content-type')?.startsWith('multipart/')
  if (isForm) {
    const form = await request.formData()
    const file = form.get('file')
    if (path === 'audio/transcriptions') return json({ text: 'The tide comes in.' })
    if (path !== 'files') return missing()
    return json(keep(Buffer.from(await file.arrayBuffer()), file.name, form.get('purpose')))
  }
  const body = await request.json().catch(() => ({}))
  switch (path) {
    case 'chat/completions':
      return chat(body)
    case 'responses': {
      const { id: conversation = body.conversation } = body.conversation ?? {}
      const items = store.conversations.get(conversation)?.items
      items?.push({ id: newId('msg_'), type: 'message' }, { id: newId('msg_'), type: 'message' })
      return respond(body)
    }
    case 'conversations': {
      const conversation = { id: newId('conv_'), object: 'conversation', created_at: now(), metadata: {}, items: [] }
      store.conversations.set(conversation.id, conversation)
      return json(conversation)
    }
    case 'messages':
      return message(body)
    case 'messages/count_tokens':
      return json({ input_tokens: 12 })
    case 'embeddings':
      return embed(body)
    case 'moderations': {
      const result = { flagged: false, categories: { hate: false }, category_scores: { hate: 0 } }
      return json({ id: newId('modr-'), model: 'fake', results: [body.input].flat().map(() => result) })
    }
    case 'images/generations':
      return draw(body)
    case 'audio/speech':
      return new Response(new Uint8Array(1_000), { headers: { 'content-type': 'audio/mpeg' } })
    case 'batches':
      return runBatch(body)
    default:
      return kind === 'batches' && more === 'cancel' ? refuse(409, 'conflict', 'It has ended.') : missing()
  }
}

const server = Bun.serve({ port: Number(process.env.PORT ?? 0), hostname: '127.0.0.1', fetch: answer })
process.stdout.write(`${server.url.origin}\n`)
