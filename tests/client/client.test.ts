// SQLite only: the methods are calls of the API, which is tried on both databases.
import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { createSvc, type StreamEvent, SvcError, verifyWebhook } from '../../client'
import { PIXEL } from '../files/support'
import { toneWav } from '../media/audio/support'
import { manifest } from '../skills/support'
import { listen } from '../support/listening'
import { createWorld } from '../support/world'

const world = await createWorld()
const { origin, baseUrl } = listen(world)
const ada = await world.person({ ofOrg: true })
const called = new Set<string>()
const svc = noting(createSvc({ apiKey: ada.key, baseUrl: origin }))
/** Somebody else's, so that the calls of all tests stay below the rate of one; it does not wait for engines. */
const once = noting(createSvc({ apiKey: (await world.person()).key, baseUrl: origin, retries: 0 }))

/** The client, which notes the methods that are called. */
function noting<T extends object>(part: T, path = ''): T {
  return new Proxy(part, {
    get(_, name) {
      const member = Reflect.get(part, name)
      if (typeof member === 'function') called.add(`${path}${String(name)}`)
      return typeof member === 'object' && member !== null ? noting(member, `${path}${String(name)}.`) : member
    },
  })
}

const methodsOf = (part: object, path = ''): string[] =>
  Object.entries(part).flatMap(([name, member]) =>
    typeof member === 'function' ? [`${path}${name}`] : methodsOf(member as object, `${path}${name}.`),
  )

const all = async (events: AsyncIterable<StreamEvent>) => Array.fromAsync(events)

describe('every method of the client, against a server (docs/api.md 23.1)', () => {
  test('answers, whole and streamed', async () => {
    const input = { prompt: 'What is 6 times 7?', mode: 'fast' as const }
    expect((await svc.complete(input)).content).toContain('42')
    const events = await all(svc.stream(input))
    expect(events.map(({ event }) => event)).toContain('token')
    expect(events.at(-1)?.event).toBe('done')
    const messages = [{ role: 'user' as const, content: 'What is 6 times 7?' }]
    expect((await svc.chat({ messages })).choices[0]!.message.content).toContain('42')
    expect((await all(svc.streamChat({ messages }))).at(-1)?.data).toBe('[DONE]')
  })

  test('asks in the formats of other clients', async () => {
    const model = 'svc-1-flash'
    const request = { model, input: 'What is 6 times 7?' }
    const first = await once.responses.create(request)
    expect(JSON.stringify(first.output)).toContain('42')
    expect((await once.responses.get(first.id)).id).toBe(first.id)
    expect((await once.responses.inputItems(first.id)).data).toHaveLength(1)
    expect((await once.responses.inputTokens(request)).input_tokens).toBeGreaterThan(3)
    await expect(once.responses.cancel(first.id)).rejects.toMatchObject({ status: 400 })
    expect((await once.responses.delete(first.id)).deleted).toBe(true)
    expect((await all(once.responses.stream(request))).at(-1)?.event).toBe('response.completed')
    const message = { model, max_tokens: 100, messages: [{ role: 'user' as const, content: request.input }] }
    expect(JSON.stringify((await once.messages.create(message)).content)).toContain('42')
    expect((await once.messages.countTokens(message)).input_tokens).toBeGreaterThan(3)
    expect((await all(once.messages.stream(message))).at(-1)?.event).toBe('message_stop')
    const { data } = await once.embed({ model: 'svc-1-embed-local', input: ['one', 'two'] })
    expect(data.map(({ embedding }) => embedding.length)).toEqual([512, 512])
    expect((await once.moderate({ input: 'Good morning.' })).results).toHaveLength(1)
    expect((await once.images.generate({ prompt: 'A lighthouse' })).data).toHaveLength(1)
  })

  test('says what pictures and sound a server without engines cannot make', async () => {
    const code = (error: SvcError) => error.code
    expect(await once.images.edit({ images: [new Blob([PIXEL])], prompt: 'red' }).catch(code)).toBe(
      'engine_unavailable',
    )
    const file = new File([toneWav(1)], 'a.wav')
    expect(await once.audio.transcribe(file, { language: 'en' }).catch(code)).toBe('stt_unavailable')
    expect(await once.audio.translate(file, { prompt: 'Tides' }).catch(code)).toBe('stt_unavailable')
    const spoken = await once.audio.speech({ input: 'Good morning.' }).catch(code)
    expect(typeof spoken === 'string' ? spoken : spoken.length > 1_000).toBeOneOf([true, 'tts_unavailable'])
  })

  test('sends files and runs batches', async () => {
    const url = '/v1/embeddings'
    const line = { custom_id: 'one', method: 'POST', url, body: { model: 'svc-1-embed-local', input: 'a text' } }
    const sent = await svc.files.create(new File([JSON.stringify(line)], 'lines.jsonl'), 'batch')
    expect((await svc.files.list({ purpose: 'batch' })).data[0]!.id).toBe(sent.id)
    const made = await svc.batches.create({ input_file_id: sent.id, endpoint: url, completion_window: '24h' })
    expect((await svc.batches.list()).data[0]!.id).toBe(made.id)
    await world.app.container.jobs.runDue('batch')
    const { status, output_file_id, request_counts } = await svc.batches.wait(made.id, { everyMs: 5 })
    expect({ status, done: request_counts.completed }).toEqual({ status: 'completed', done: 1 })
    expect(new TextDecoder().decode(await svc.files.content(output_file_id!))).toContain('"custom_id":"one"')
    expect((await svc.files.delete(output_file_id!)).deleted).toBe(true)
    await expect(svc.files.get(output_file_id!)).rejects.toMatchObject({ status: 404 })
    expect((await svc.batches.get(made.id)).id).toBe(made.id)
    await expect(svc.batches.cancel(made.id)).rejects.toMatchObject({ status: 409 })
  })

  test('makes things, and starts jobs', async () => {
    expect((await svc.image({ prompt: 'A lighthouse' })).images).toHaveLength(1)
    expect((await svc.document({ prompt: 'Tides', format: 'pdf' })).download_url).toContain('/files/')
    expect((await svc.code({ prompt: 'A function that reverses a string', language: 'python' })).id).toStartWith(
      'code_',
    )
    const { job_id } = await svc.research({ prompt: 'How do tides work?', depth: 'basic' })
    expect((await svc.jobs.get(job_id)).id).toBe(job_id)
    expect(JSON.stringify(await svc.jobs.list())).toContain(job_id)
    expect((await svc.jobs.cancel(job_id)).id).toBe(job_id)
    expect((await svc.jobs.wait(job_id, { everyMs: 5 })).status).toBe('failed')
  })

  test('makes videos, speaks, and hears only what a server hears', async () => {
    const { job_id } = await svc.video({ prompt: 'A lighthouse', duration: '2s' })
    expect((await svc.jobs.cancel(job_id)).status).toBe('failed')
    const spoken = await svc.speak({ text: 'Good morning.' }).catch((error: SvcError) => error.code)
    expect(typeof spoken === 'string' ? spoken : spoken.length > 1_000).toBeOneOf([true, 'tts_unavailable'])
    const heard = await svc.transcribe(new Blob(['no sound'])).catch((error: SvcError) => error.code)
    expect(heard).toBeOneOf(['stt_unavailable', 'unsupported_media_type'])
  })

  test('installs skills, keeps hooks, and reads conversations', async () => {
    await svc.skills.install({ slug: 'email-drafter' })
    expect(JSON.stringify(await svc.skills.get('email-drafter'))).toContain('email-drafter')
    await svc.skills.uninstall({ slug: 'email-drafter' })
    expect(JSON.stringify(await svc.skills.versions('email-drafter'))).toContain('1.')
    await svc.hooks.create({ hook_preset_id: 'task.overdue.summary' })
    const [hook] = await svc.hooks.list()
    expect(await svc.hooks.executions(hook!.id)).toEqual([])
    await svc.hooks.delete(hook!.id)
    const { conversation_id } = await svc.complete({ prompt: 'What is 6 times 8?', mode: 'fast' })
    const { messages } = await svc.conversations.get(conversation_id!)
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    await svc.conversations.delete(conversation_id!)
    expect(await svc.conversations.get(conversation_id!).catch((error: SvcError) => error.code)).toBe('not_found')
    expect(await svc.browser.close('none').catch((error: SvcError) => error.status)).toBe(404)
  })

  test('reads and changes what there is', async () => {
    const models = await svc.models()
    expect((await svc.model(models[0]!.model_id)).id).toBe(models[0]!.model_id)
    expect((await svc.tools()).length).toBeGreaterThan(0)
    const made = await svc.skills.create({
      name: 'Short answers',
      slug: 'short-answers',
      category: 'productivity',
      system_prompt_ext: 'Answer in one sentence.',
    })
    expect(JSON.stringify(await svc.skills.list({ filter: 'mine' }))).toContain('short-answers')
    expect(made).toMatchObject({ skill: { slug: 'short-answers' } })
    expect(await svc.skills.submissions()).toEqual([])
    const { submission } = await svc.skills.submit({ manifest: manifest() as never })
    expect((await svc.skills.submission(submission.id)).id).toBe(submission.id)
    expect((await svc.skills.submissions()).map(({ id }) => id)).toEqual([submission.id])
    const flow = await svc.workflows.create({
      name: 'Flow',
      triggerType: 'manual',
      steps: [{ name: 'say', type: 'transform', config: { template: 'Hello' } }],
    })
    expect((await svc.workflows.update(flow.id, { name: 'Other' })).name).toBe('Other')
    expect((await svc.workflows.get(flow.id)).name).toBe('Other')
    expect(JSON.stringify(await svc.workflows.run(flow.id))).toContain('run')
    expect((await svc.workflows.runs(flow.id)).length).toBe(1)
    expect((await svc.workflows.list()).length).toBe(1)
    await svc.workflows.delete(flow.id)
    const webhook = await svc.webhooks.create({ url: 'https://example.com/hook', event_types: ['job.completed'] })
    const [listed] = await svc.webhooks.list()
    expect(JSON.stringify(webhook)).toContain(listed!.id)
    expect(JSON.stringify(await svc.webhooks.test(listed!.id))).toContain('true')
    await svc.webhooks.update(listed!.id, { enabled: false })
    expect(await svc.webhooks.deliveries(listed!.id)).toBeArray()
    await svc.webhooks.delete(listed!.id)
    expect(await svc.hooks.list()).toEqual([])
    await svc.canvases.create({ name: 'Help desk' })
    const [canvas] = await svc.canvases.list()
    expect((await svc.canvases.get(canvas!.id)).name).toBe('Help desk')
    await svc.canvases.delete(canvas!.id)
    expect(await svc.browser.sessions()).toEqual([])
    expect(await svc.conversations.list()).toBeArray()
    await svc.publish({ orgId: ada.orgId!, eventType: 'order.paid', payload: { total: 5 } })
    expect((await svc.usage()).totals.requests).toBeGreaterThan(0)
    expect(JSON.stringify(await svc.settings())).toContain('timezone')
    expect(JSON.stringify(await svc.rateLimits())).toContain('enterprise')
    expect((await svc.health()).status).toBeString()
    expect(await svc.request<{ keys: unknown }>('GET', '/keys', { query: { limit: 1 } })).toHaveProperty('keys')
  })

  test('no method is left out; browser sessions are opened where a Chromium is (tests/browser)', async () => {
    await svc.verify()
    expect(methodsOf(createSvc({ apiKey: 'k' })).filter((name) => !called.has(name))).toEqual(['browser.open'])
  })

  test('verify says what is wrong, and never throws', async () => {
    expect(await svc.verify()).toMatchObject({ healthy: true, authenticated: true, baseUrl: origin })
    const wrong = await createSvc({ apiKey: 'svc_sk_live_nothing', baseUrl }).verify()
    expect(wrong).toMatchObject({ healthy: true, authenticated: false, hint: expect.stringContaining('SVC_API_KEY') })
    const nobody = await createSvc({ apiKey: 'x', baseUrl: 'http://127.0.0.1:1', retries: 0 }).verify()
    expect(nobody).toMatchObject({ healthy: false, hint: expect.stringContaining('SVC_BASE_URL') })
  })
})

/** What clients of the public service read from an answer, by the route that they call for it (docs/api.md 23.1). */
const READ: Record<string, [method: string, path: string]> = {
  models: ['get', '/models'],
  skills: ['get', '/skills'],
  skill: ['post', '/skills/create'],
  submission: ['post', '/skills/submit'],
  submissions: ['get', '/skills/submissions'],
  versions: ['get', '/skills/{id}/versions'],
  workflow: ['get', '/workflows/{id}'],
  workflows: ['get', '/workflows'],
  run: ['post', '/workflows/{id}/run'],
  job: ['get', '/jobs/{id}'],
  tools: ['get', '/tools'],
  sessions: ['get', '/browser/sessions'],
  conversations: ['get', '/conversations'],
  conversation: ['get', '/conversations/{id}'],
  webhooks: ['get', '/webhooks'],
  deliveries: ['get', '/webhooks/{id}/deliveries'],
  hooks: ['get', '/hooks'],
  executions: ['get', '/hooks/{id}/executions'],
  canvases: ['get', '/evi/canvases'],
  canvas: ['post', '/evi/canvases'],
}

test('what clients of the public service read has its name in each answer', async () => {
  const { paths, components } = (await world.send('GET', '/openapi.json')).body
  const missing = Object.entries(READ).filter(([name, [method, path]]) => {
    const { responses } = paths[path][method]
    const { schema } = (responses['200'] ?? responses['201']).content['application/json']
    return !(schema.$ref ? components.schemas[schema.$ref.split('/').at(-1)] : schema).required.includes(name)
  })
  expect(missing).toEqual([])
})

describe('tries', () => {
  type Sent = { key: string | null; method: string }
  /** A client whose server answers as listed, and what it sent. */
  function scripted(answers: (Response | Error)[], retries = 2) {
    const sent: Sent[] = []
    const client = createSvc({
      apiKey: 'k',
      baseUrl: 'http://x',
      retries,
      fetch: async (_, { method, headers }) => {
        sent.push({ key: new Headers(headers).get('idempotency-key'), method: method! })
        const next = answers.shift()!
        if (next instanceof Error) throw next
        return next
      },
    })
    return { client, sent }
  }
  const refusal = (status: number, code: string, headers: Record<string, string> = {}) =>
    Response.json({ error: { message: 'No.', type: 'x', code, request_id: 'req_1' } }, { status, headers })
  const now = { 'retry-after': '0' }

  test('again on 429, 5xx and a broken line, with one Idempotency-Key for all of them', async () => {
    const { client, sent } = scripted([
      refusal(429, 'rate_limit_exceeded', now),
      refusal(503, 'x', now),
      Response.json({ ok: 1 }),
    ])
    expect(await client.request<object>('POST', '/keys', { body: {} })).toEqual({ ok: 1 })
    expect(new Set(sent.map(({ key }) => key)).size).toBe(1)
    expect({ sent: sent.length, key: sent[0]!.key }).toEqual({ sent: 3, key: expect.stringMatching(/^[0-9a-f-]{36}$/) })
  })

  test('streams and sound again only where nothing was done: no key covers them (docs/api.md 1.7)', async () => {
    const failed = (at: number) => Object.assign(new TypeError('x'), { code: ['ECONNRESET', 'ECONNREFUSED'][at] })
    const page = (status: number) => new Response('<h1>Bad gateway</h1>', { status, headers: now })
    const messages = [{ role: 'user' as const, content: 'x' }]
    for (const unsure of [() => page(502), () => page(503), () => refusal(500, 'server_error', now), () => failed(0)]) {
      const { client, sent } = scripted([unsure(), unsure(), unsure(), unsure()])
      await expect(all(client.streamChat({ messages }))).rejects.toBeInstanceOf(SvcError)
      await expect(all(client.stream({ prompt: 'x' }))).rejects.toBeInstanceOf(SvcError)
      await expect(client.speak({ text: 'x' })).rejects.toBeInstanceOf(SvcError)
      await expect(client.transcribe(new Blob(['x']))).rejects.toBeInstanceOf(SvcError)
      expect(sent).toHaveLength(4)
    }
    const busy = scripted([
      refusal(429, 'rate_limit_exceeded', now),
      refusal(503, 'storage_unavailable', now),
      failed(1),
    ])
    await expect(busy.client.speak({ text: 'x' })).rejects.toMatchObject({ status: 0 })
    expect(busy.sent).toHaveLength(3)
  })

  test('not again on other refusals, which say code, status, request and details', async () => {
    const { client, sent } = scripted([refusal(404, 'not_found')])
    const error = await client.usage().catch((failure: unknown) => failure)
    expect(error).toBeInstanceOf(SvcError)
    expect(error).toMatchObject({ status: 404, code: 'not_found', requestId: 'req_1', message: 'No.' })
    expect(sent).toHaveLength(1)
  })

  test('no more often than request', async () => {
    const { client, sent } = scripted([refusal(500, 'server_error', now), refusal(500, 'server_error', now)], 1)
    await expect(client.usage()).rejects.toMatchObject({ status: 500 })
    expect(sent).toHaveLength(2)
    const broken = scripted([new TypeError('closed')], 0)
    await expect(broken.client.usage()).rejects.toMatchObject({ status: 0, code: 'network_error' })
  })

  test('not again on a success that is no answer of svc, which is an error all the same', async () => {
    const page = (type = 'text/html') =>
      new Response('<html>Sign in to this network</html>', { headers: { 'content-type': type } })
    const { client, sent } = scripted([page(), page(), page('text/event-stream'), page(), Response.json({})])
    const what = { status: 200, code: 'invalid_answer', message: expect.stringContaining('Sign in to this network') }
    await expect(client.complete({ prompt: 'x' })).rejects.toMatchObject(what)
    await expect(all(client.stream({ prompt: 'x' }))).rejects.toMatchObject(what)
    await expect(all(client.stream({ prompt: 'x' }))).rejects.toMatchObject({ status: 0, code: 'network_error' })
    expect(await client.verify()).toMatchObject({ healthy: false, error: expect.stringContaining('Sign in') })
    expect(sent).toHaveLength(4)
  })
})

describe('a webhook delivery', () => {
  const secret = 'whsec_0123456789'
  const body = '{"id":"evt_1","type":"job.completed"}'
  const signed = (timestamp: number) => ({
    'Svc-Webhook-Timestamp': String(timestamp),
    'Svc-Webhook-Signature': `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`,
  })
  const at = 1_700_000_000

  test('is taken when its signature fits, and only then', async () => {
    const now = at * 1_000
    expect(await verifyWebhook({ body, headers: signed(at), secret, now })).toEqual(JSON.parse(body))
    await expect(verifyWebhook({ body: `${body} `, headers: signed(at), secret, now })).rejects.toThrow('signature')
    await expect(verifyWebhook({ body, headers: signed(at), secret: 'other', now })).rejects.toThrow('signature')
    await expect(verifyWebhook({ body, headers: signed(at - 301), secret, now })).rejects.toThrow('older')
    await expect(verifyWebhook({ body, headers: {}, secret, now })).rejects.toThrow('not signed')
    const bytes = new TextEncoder().encode(body)
    expect(await verifyWebhook({ body: bytes, headers: signed(at), secret, now })).toEqual(JSON.parse(body))
    await expect(verifyWebhook({ body, headers: signed(at + 301), secret, now })).rejects.toThrow('clock')
    await expect(verifyWebhook({ body, headers: signed(at), secret: '', now })).rejects.toThrow('missing')
  })
})
