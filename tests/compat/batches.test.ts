import { describe, expect, test } from 'bun:test'
import OpenAI, { toFile } from 'openai'
import { jobCompleted } from '../../src/charging'
import { batchLines } from '../../src/compat/table'
import type { DomainEvent } from '../../src/events'
import { uploads } from '../../src/files/table'
import { createUpstreamWorld } from '../completions/upstream-world'
import { operatorSender } from '../operators/support'
import { fakeClock } from '../support/clock'
import { impatiently } from '../support/impatiently'
import { listen } from '../support/listening'
import type { Person } from '../support/world'

type Out = {
  id: string
  custom_id: string
  // biome-ignore lint/suspicious/noExplicitAny: every endpoint has a body of its own
  response: { status_code: number; request_id: string; body: any } | null
  error: { code: string; message: string } | null
}

type Body = NonNullable<Out['response']>['body']

const clock = fakeClock('2026-03-01T00:00:00.000Z')
const { world, upstream } = await createUpstreamWorld({ clock })
const { origin } = listen(world)
const operator = operatorSender(world)
const { container, store } = world.app
const NOW = clock.now() / 1_000
const CHAT = '/v1/chat/completions'

const notices: DomainEvent<{ job_id: string }>[] = []
for (const node of world.nodes)
  node.container.events.afterCommit(jobCompleted, (event) => void notices.push(event as never))

const clientOf = ({ key }: Person) => new OpenAI({ baseURL: `${origin}/v1`, apiKey: key, maxRetries: 0 })
const bodyOf = (content: string) => ({ model: 'svc-1-flash', messages: [{ role: 'user', content }] })
const lineOf = (custom_id: string, body: object, url = CHAT) => ({ custom_id, method: 'POST', url, body })
const textOf = (lines: readonly object[]) => lines.map((line) => JSON.stringify(line)).join('\n')

async function send(person: Person, text: string, purpose: 'batch' | 'user_data' = 'batch') {
  return (await clientOf(person).files.create({ file: await toFile(Buffer.from(text), 'in.jsonl'), purpose })).id
}

async function create(person: Person, text: string, endpoint = CHAT, more: object = {}) {
  const input_file_id = await send(person, text)
  return person.send('POST', 'batches', { input_file_id, endpoint, completion_window: '24h', ...more })
}

async function read(person: Person, file: string | null | undefined): Promise<Out[]> {
  if (!file) return []
  const text = await (await clientOf(person).files.content(file)).text()
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Runs all due batches, and what one of them came to. */
async function done(person: Person, id: string) {
  await container.jobs.runDue('batch')
  const { body: batch } = await person.send('GET', `batches/${id}`)
  return { batch, out: await read(person, batch.output_file_id), failed: await read(person, batch.error_file_id) }
}

const walletOf = async ({ userId }: Person) => container.billing.balance(store.read, `user:${userId}`)
const auditOf = async (person: Person, action: string) => (await person.send('GET', `audit?action=${action}`)).body

describe('batches (docs/api.md 32.6) with the openai package', () => {
  test('run every line once, charged as they run, and write an output file (docs/api.md 33.6.29)', async () => {
    const person = await world.person()
    const client = clientOf(person)
    const lines = Array.from({ length: 45 }, (_, at) => lineOf(`line ${at}`, bodyOf(`[[say:answer ${at}]]`)))
    const input_file_id = await send(person, `${textOf(lines)}\n\n`)
    const before = await walletOf(person)
    const made = await client.batches.create({
      ...{ input_file_id, endpoint: CHAT, completion_window: '24h', metadata: { night: 'one' } },
    })
    expect({ ...made }).toMatchObject({
      ...{ id: expect.stringMatching(/^batch_[0-9A-Za-z]{24}$/), object: 'batch', endpoint: CHAT, model: null },
      ...{ errors: null, input_file_id, completion_window: '24h', status: 'validating', output_file_id: null },
      ...{ error_file_id: null, created_at: NOW, in_progress_at: null, expires_at: NOW + 86_400 },
      ...{ request_counts: { total: 45, completed: 0, failed: 0 }, usage: null, metadata: { night: 'one' } },
    })
    expect((await person.send('DELETE', `files/${input_file_id}`)).status).toBe(409)
    const { batch, out, failed } = await done(person, made.id)
    expect(batch).toMatchObject({
      ...{ status: 'completed', in_progress_at: NOW, finalizing_at: NOW, completed_at: NOW, error_file_id: null },
      ...{ request_counts: { total: 45, completed: 45, failed: 0 }, model: 'svc-1-flash' },
    })
    expect(batch.usage.total_tokens).toBe(batch.usage.input_tokens + batch.usage.output_tokens)
    expect(batch.usage.input_tokens).toBeGreaterThan(45)
    expect(failed).toEqual([])
    expect(out.map(({ custom_id }) => custom_id).sort()).toEqual(lines.map(({ custom_id }) => custom_id).sort())
    for (const { id, custom_id, response, error } of out) {
      expect(id).toMatch(/^batch_req_[0-9A-Za-z]{24}$/)
      expect(error).toBeNull()
      const { status_code, request_id, body } = response!
      expect({ status_code, object: body.object, request_id: body.request_id }).toEqual({
        ...{ status_code: 200, object: 'chat.completion', request_id },
      })
      expect(body.choices[0].message.content).toBe(custom_id.replace('line', 'answer'))
    }
    const after = await walletOf(person)
    const cents = out.reduce((sum, { response }) => sum + response!.body.svc_metadata.cost_cents, 0)
    expect(Math.round((before.balance - after.balance) / 1e4)).toBe(Math.round(cents * 1e2))
    expect(after.held).toBe(0)
    expect((await person.send('DELETE', `files/${input_file_id}`)).status).toBe(200)
    expect((await client.files.retrieve(batch.output_file_id)).purpose as string).toBe('batch_output')
  })

  test('are recorded: the batch, each line with its API, a webhook of its job, and the job itself', async () => {
    const person = await world.person()
    const { body } = await create(person, textOf([lineOf('a', bodyOf('one')), lineOf('b', bodyOf('two'))]))
    await done(person, body.id)
    expect(await auditOf(person, 'batch.created')).toMatchObject([{ entityType: 'batch', entityId: body.id }])
    expect(await auditOf(person, 'batch.completed')).toMatchObject([{ entityType: 'batch', entityId: body.id }])
    const lines = await auditOf(person, 'completion.created')
    expect(lines.map((row: { inputSummary: { door: string } }) => row.inputSummary.door)).toEqual(['batch', 'batch'])
    const { jobs } = (await person.send('GET', 'jobs?type=batch')).body
    expect(jobs).toMatchObject([{ type: 'batch', status: 'completed', progress: 100 }])
    expect(notices.map(({ data }) => data.job_id)).toContain(jobs[0].id)
    const calls = (await person.send('GET', 'requests?limit=10')).body.requests
    expect(calls.map(({ endpoint }: { endpoint: string }) => endpoint)).toEqual(
      expect.arrayContaining(['/chat/completions']),
    )
  })

  test.each([
    ['/v1/responses', { model: 'svc-1-flash', input: '[[say:hello]]' }, (body: Body) => body.output[0].content[0].text],
    [
      '/v1/messages',
      { model: 'svc-1-flash', max_tokens: 100, messages: [{ role: 'user', content: '[[say:hello]]' }] },
      (body: Body) => body.content[0].text,
    ],
    ['/v1/embeddings', { model: 'svc-1-embed-local', input: 'hello' }, (body: Body) => body.data[0].embedding.length],
  ])('lines of %s are that call', async (url, body, textIn) => {
    const person = await world.person()
    const { status, body: made } = await create(person, textOf([lineOf('a', body, url.replace('/v1', ''))]), url)
    expect({ status, endpoint: made.endpoint }).toEqual({ status: 200, endpoint: url })
    const { batch, out } = await done(person, made.id)
    expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: 1, failed: 0 } })
    expect(textIn(out[0]!.response!.body)).toEqual(url.endsWith('embeddings') ? 512 : 'hello')
  })

  test.each([
    ['by_base', 0.5],
    ['honor', 0.5],
    ['ignore', undefined],
  ])(
    'parameters of a chat count in a line unless the key says otherwise (docs/api.md 33.1): %s',
    async (says, top_p) => {
      const person = await world.person()
      expect((await person.send('PUT', `keys/${person.keyId}`, { chat_parameters: says })).status).toBe(200)
      const made = await create(person, textOf([lineOf('a', { ...bodyOf('[[say:hello]]'), top_p: 0.5 })]))
      expect((await done(person, made.body.id)).batch.request_counts).toMatchObject({ completed: 1 })
      expect(upstream.calls.at(-1)!.body.top_p).toBe(top_p)
    },
  )

  test('lines that fail are in an error file, with the status and the body of the call', async () => {
    const person = await world.person()
    const lines = [
      lineOf('good', bodyOf('[[say:yes]]')),
      lineOf('stream', { ...bodyOf('x'), stream: true }),
      lineOf('background', { ...bodyOf('x'), background: true }),
      lineOf('schema', { messages: 'none' }),
      lineOf('engine', bodyOf('[[400]]')),
    ]
    const { body } = await create(person, textOf(lines))
    const { batch, out, failed } = await done(person, body.id)
    expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 5, completed: 1, failed: 4 } })
    expect(out.map(({ custom_id }) => custom_id)).toEqual(['good'])
    const found = Object.fromEntries(failed.map(({ custom_id, response }) => [custom_id, response!]))
    expect(Object.keys(found).sort()).toEqual(['background', 'engine', 'schema', 'stream'])
    for (const { status_code, body: error } of Object.values(found))
      expect({ status_code, type: error.error.type }).toEqual({ status_code: 400, type: 'invalid_request_error' })
    expect(found.stream!.body.error).toMatchObject({ code: 'validation_error', param: 'stream' })
    expect(found.schema!.body.error.param).toBe('messages')
  })

  test.each([
    ['invalid_json_line', `${textOf([lineOf('a', bodyOf('x'))])}\nno json`, { line: 2, param: null }],
    ['invalid_json_line', textOf([{ ...lineOf('', bodyOf('x')) }]), { line: 1, param: 'custom_id' }],
    [
      'duplicate_custom_id',
      textOf([lineOf('a', bodyOf('x')), lineOf('a', bodyOf('y'))]),
      { line: 2, param: 'custom_id' },
    ],
    ['mismatched_endpoint', textOf([lineOf('a', bodyOf('x'), '/v1/responses')]), { line: 1, param: 'url' }],
    ['empty_file', '\n \n', { line: null, param: null }],
    [
      'too_many_requests_in_batch',
      textOf(Array.from({ length: 10_001 }, (_, at) => lineOf(`${at}`, {}))),
      { line: null, param: null },
    ],
  ])('%s: a broken file fails the batch, and nothing runs', async (code, text, place) => {
    const person = await world.person()
    const before = upstream.calls.length
    const { body } = await create(person, text)
    const { batch } = await done(person, body.id)
    expect(batch).toMatchObject({ status: 'failed', failed_at: expect.any(Number), output_file_id: null })
    expect(batch.errors).toMatchObject({ object: 'list', data: [{ code, ...place, message: expect.any(String) }] })
    expect(upstream.calls.length).toBe(before)
    const { jobs } = (await person.send('GET', 'jobs?type=batch')).body
    expect(jobs).toMatchObject([{ status: 'failed' }])
    expect((await person.send('DELETE', `files/${batch.input_file_id}`)).status).toBe(200)
  })

  test.each([
    ['{"custom_id":', 'This line is not valid JSON'],
    ['[]', 'This line is not a JSON object.'],
    [
      JSON.stringify(lineOf('a', { deep: JSON.parse('['.repeat(70) + ']'.repeat(70)) })),
      'nested deeper than 64 levels',
    ],
    [JSON.stringify(lineOf('a', { many: Array(100_001).fill('') })), 'more than 100000 values'],
    [JSON.stringify(lineOf('a', {})).replace('{}', '{"seed":9007199254740993}'), 'too many digits'],
  ])('say what is wrong with a line: %.30s', async (line, why) => {
    const person = await world.person()
    const { batch } = await done(person, (await create(person, `${line}\n`)).body.id)
    expect(batch.errors.data).toMatchObject([
      { code: 'invalid_json_line', line: 1, message: expect.stringContaining(why) },
    ])
  })

  test('are refused without a file, a purpose, an endpoint, credit or the scope', async () => {
    const person = await world.person()
    const line = textOf([lineOf('a', bodyOf('x'))])
    const post = (by: Person, more: object) =>
      by.send('POST', 'batches', { completion_window: '24h', endpoint: CHAT, ...more })
    const unknown = await post(person, { input_file_id: 'file-000000000000000000000000' })
    expect({ status: unknown.status, code: unknown.body.error.code }).toEqual({ status: 404, code: 'not_found' })
    const other = await post(person, { input_file_id: await send(person, line, 'user_data') })
    expect(other).toMatchObject({ status: 400, body: { error: { param: 'input_file_id' } } })
    const input_file_id = await send(person, line)
    const wrong = await post(person, { input_file_id, endpoint: '/v1/completions' })
    expect(wrong).toMatchObject({ status: 400, body: { error: { param: 'endpoint' } } })
    const window = await post(person, { input_file_id, completion_window: '1h' })
    expect(window).toMatchObject({ status: 400, body: { error: { param: 'completion_window' } } })
    expect((await post(await world.person(), { input_file_id })).status).toBe(404)
    expect((await create(await world.person({ cents: 0 }), line)).status).toBe(402)
    expect((await post(await world.person({ scopes: ['billing'] }), { input_file_id })).status).toBe(403)
  })

  test('are created once with an Idempotency-Key', async () => {
    const person = await world.person()
    const input_file_id = await send(person, textOf([lineOf('a', bodyOf('x'))]))
    const body = { input_file_id, endpoint: CHAT, completion_window: '24h' }
    const one = await person.send('POST', 'batches', body, { 'idempotency-key': 'once' })
    expect((await person.send('POST', 'batches', body, { 'idempotency-key': 'once' })).body.id).toBe(one.body.id)
    expect((await person.send('GET', 'batches')).body.data).toHaveLength(1)
  })

  test('an owner has at most 20 open batches and 50,000 waiting lines', async () => {
    const person = await world.person()
    const line = textOf([lineOf('a', bodyOf('x'))])
    for (let at = 0; at < 20; at++) expect((await create(person, line)).status).toBe(200)
    const over = await create(person, line)
    expect({ status: over.status, code: over.body.error.code }).toEqual({ status: 429, code: 'rate_limit_exceeded' })
    expect(over.headers.get('retry-after')).toBe('60')
    const many = await world.person()
    const large = textOf(Array.from({ length: 10_000 }, (_, at) => lineOf(`${at}`, {})))
    for (let at = 0; at < 5; at++) expect((await create(many, large)).status).toBe(200)
    expect((await create(many, line)).status).toBe(429)
    for (const by of [person, many])
      for (const { id } of (await by.send('GET', 'batches?limit=100')).body.data)
        await by.send('POST', `batches/${id}/cancel`)
    await container.jobs.runDue('batch')
    expect((await create(person, line)).status).toBe(200)
    await container.jobs.runDue('batch')
  }, 120_000)

  test('are listed in pages, newest first, and found by their owner only', async () => {
    const [person, other] = [await world.person(), await world.person()]
    const ids: string[] = []
    for (let at = 0; at < 3; at++) {
      clock.advance(1_000)
      ids.push((await create(person, textOf([lineOf('a', bodyOf('x'))]))).body.id)
    }
    const found: string[] = []
    for await (const { id } of clientOf(person).batches.list({ limit: 2 })) found.push(id)
    expect(found).toEqual(ids.toReversed())
    expect((await other.send('GET', `batches/${ids[0]}`)).status).toBe(404)
    expect((await other.send('POST', `batches/${ids[0]}/cancel`)).status).toBe(404)
    expect((await other.send('GET', 'batches')).body.data).toEqual([])
    await container.jobs.runDue('batch')
  })

  test('cancelled: lines that never ran say so, those answered are kept, and an ended one is 409', async () => {
    const person = await world.person()
    const { body } = await create(person, textOf([lineOf('a', bodyOf('x')), lineOf('b', bodyOf('y'))]))
    const stopped = await clientOf(person).batches.cancel(body.id)
    expect(stopped).toMatchObject({ status: 'cancelling', cancelling_at: clock.now() / 1_000 })
    const { batch, failed } = await done(person, body.id)
    expect(batch).toMatchObject({ status: 'cancelled', cancelled_at: clock.now() / 1_000 })
    expect(batch.request_counts).toEqual({ total: 2, completed: 0, failed: 2 })
    expect(failed).toMatchObject([
      { custom_id: 'a', response: null, error: { code: 'batch_cancelled' } },
      { custom_id: 'b', response: null, error: { code: 'batch_cancelled' } },
    ])
    const again = await person.send('POST', `batches/${body.id}/cancel`)
    expect({ status: again.status, code: again.body.error.code }).toEqual({ status: 409, code: 'conflict' })
    expect(await auditOf(person, 'batch.cancelled')).toHaveLength(1)
    const { jobs } = (await person.send('GET', 'jobs?type=batch')).body
    expect(jobs).toMatchObject([{ status: 'failed', error: 'cancelled' }])
  })

  test('cancelling its job cancels the batch', async () => {
    const person = await world.person()
    const { body } = await create(person, textOf([lineOf('a', bodyOf('x'))]))
    const [job] = (await person.send('GET', 'jobs?type=batch')).body.jobs
    expect((await person.send('POST', `jobs/${job.id}/cancel`)).status).toBe(200)
    expect((await done(person, body.id)).batch.status).toBe('cancelled')
    expect((await person.send('POST', `jobs/${job.id}/cancel`)).status).toBe(409)
  })

  test('after 24 hours the rest has expired', async () => {
    const person = await world.person()
    const { body } = await create(person, textOf([lineOf('a', bodyOf('x'))]))
    clock.advance(86_400_000)
    const { batch, failed } = await done(person, body.id)
    expect(batch).toMatchObject({ status: 'expired', expired_at: clock.now() / 1_000 })
    expect(failed).toMatchObject([{ response: null, error: { code: 'batch_expired' } }])
  })

  test('without credit a line fails with 402, and so does the rest; with a revoked key 401', async () => {
    const line = textOf(Array.from({ length: 30 }, (_, at) => lineOf(`${at}`, bodyOf('x'))))
    const poor = await world.person()
    const { body } = await create(poor, line)
    const { balance } = await walletOf(poor)
    await store.write((tx) =>
      container.billing.adjust(tx, {
        ...{ owner: `user:${poor.userId}`, amount: -balance, ref: 'all', kind: 'adjustment', note: null },
      } as never),
    )
    const before = upstream.calls.length
    const first = await done(poor, body.id)
    expect(first.batch).toMatchObject({ status: 'completed', request_counts: { completed: 0, failed: 30 } })
    expect(new Set(first.failed.map(({ response }) => response!.status_code))).toEqual(new Set([402]))
    const gone = await world.person()
    const { body: second } = await create(gone, line)
    const session = await world.signedIn(gone)
    expect((await session.send('DELETE', `keys/${gone.keyId}`)).status).toBe(200)
    await container.jobs.runDue('batch')
    const { body: batch } = await session.send('GET', `batches/${second.id}`)
    const file = await session.send('GET', `files/${batch.error_file_id}/content`)
    expect(file.text.match(/"status_code":401/g)).toHaveLength(30)
    expect(upstream.calls.length).toBe(before)
  })

  test('lines count towards no rate', async () => {
    const person = await world.person({ tier: 'free' })
    const { body } = await create(person, textOf(Array.from({ length: 40 }, (_, at) => lineOf(`${at}`, bodyOf('x')))))
    const { batch } = await done(person, body.id)
    expect(batch.request_counts).toEqual({ total: 40, completed: 40, failed: 0 })
  })

  test('an unavailable engine is retried later, and the answer is charged once', async () => {
    const person = await world.person()
    const { body } = await create(person, textOf([lineOf('a', bodyOf('[[fail:4]][[say:back]]'))]))
    for (let at = 0; at < 10; at++) {
      await impatiently(clock, container.jobs.runDue('batch'))
      clock.advance(70_000)
    }
    const { batch, out } = await done(person, body.id)
    expect(batch.request_counts).toEqual({ total: 1, completed: 1, failed: 0 })
    expect(out[0]!.response!.body.choices[0].message.content).toBe('back')
    expect(await auditOf(person, 'completion.created')).toHaveLength(1)
  })

  test('files of a batch stay as long as it says', async () => {
    const person = await world.person()
    const output_expires_after = { anchor: 'created_at', seconds: 7_200 }
    const { body } = await create(person, textOf([lineOf('a', bodyOf('x'))]), CHAT, { output_expires_after })
    const { batch } = await done(person, body.id)
    const file = (await person.send('GET', `files/${batch.output_file_id}`)).body
    expect(file.expires_at - file.created_at).toBe(7_200)
  })

  test('operators list, read and cancel them', async () => {
    const person = await world.person()
    const { body } = await create(person, textOf([lineOf('a', bodyOf('x'))]))
    const owner = `user:${person.userId}`
    expect((await operator('GET', `batches?owner=${owner}`)).body.batches).toMatchObject([
      { id: body.id, owner, total: 1 },
    ])
    expect((await operator('POST', `batches/${body.id}/cancel`)).body).toMatchObject({ status: 'cancelling' })
    await container.jobs.runDue('batch')
    expect((await operator('GET', `batches/${body.id}`)).body).toMatchObject({ status: 'cancelled', failed: 1 })
  })

  test('nothing is left: no line, no hold, no reader of a file', async () => {
    await container.jobs.runDue('batch')
    expect(await store.read.select().from(store.read.of(batchLines))).toEqual([])
    const files = await store.read.select().from(store.read.of(uploads))
    expect(files.filter(({ readers }) => readers !== 0)).toEqual([])
    expect(await container.billing.verify(store.read)).toEqual([])
    expect(await container.publicJobs.verify(store.read)).toEqual([])
  })
})
