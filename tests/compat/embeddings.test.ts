// SQLite only: charging is run on both databases by tests/charging.
import { afterAll, describe, expect, test } from 'bun:test'
import { getEncoding } from 'js-tiktoken'
import OpenAI from 'openai'
import { operatorSender } from '../operators/support'
import { listen } from '../support/listening'
import { createWorld } from '../support/world'

type Order = { model: string; input: string[]; encoding_format: string; dimensions?: number }

const received: Order[] = []
const vectorOf = (text: string, length: number) =>
  Array.from({ length }, (_, at) => Math.fround(text.length / (at + 3)))
const answered = ({ input, dimensions = 4 }: Order): unknown => ({
  // Backwards: an answer is put into the order of its inputs.
  data: input.map((text, index) => ({ index, embedding: vectorOf(text, dimensions) })).reverse(),
  usage: { prompt_tokens: 2 * input.length },
})
let answers: (body: Order) => unknown = answered
const upstream = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (request.method === 'GET') return Response.json({ object: 'list', data: [] })
    const body = (await request.json()) as Order
    received.push(body)
    const answer = answers(body) as object
    return answer instanceof Response ? answer : Response.json(answer)
  },
})
afterAll(() => upstream.stop(true))

const world = await createWorld({ config: { embedBaseUrl: `${upstream.url.origin}/v1` } })
const ada = await world.person()
const openai = new OpenAI({ baseURL: `${listen(world).origin}/v1`, apiKey: ada.key, maxRetries: 0 })
const bob = await (await createWorld()).person()
const ask = (body: object) => ada.send('POST', 'embeddings', body)

describe('POST /embeddings (docs/api.md 31)', () => {
  test('the openai package reads base64 by default, which equals float bit for bit (docs/api.md 33.6.24)', async () => {
    const input = ['one', 'three', 'seventeen']
    const model = 'svc-1-embed'
    const packed = await openai.embeddings.create({ model, input })
    const plainNumbers = await openai.embeddings.create({ model, input, encoding_format: 'float' })
    expect(packed.data.map(({ embedding }) => embedding)).toEqual(input.map((text) => vectorOf(text, 4)))
    expect(plainNumbers.data).toEqual(packed.data)
    const unsaid = await world.person().then(({ send }) => send('POST', 'embeddings', { input, encoding_format: null }))
    expect(unsaid.body.data).toEqual(packed.data)
    expect(packed).toMatchObject({ object: 'list', model, usage: { prompt_tokens: 6, total_tokens: 6 } })
    expect(received.at(-1)).toMatchObject({ model: 'text-embedding-3-small', input, encoding_format: 'float' })
  })

  test('passes dimensions on, and refuses a length that the engine does not make', async () => {
    const { data } = await openai.embeddings.create({ model: 'svc-1-embed', input: 'one', dimensions: 7 })
    expect(data[0]!.embedding).toHaveLength(7)
    answers = (body) => answered({ ...body, dimensions: 4 })
    const { status, body } = await ask({ input: 'one', dimensions: 9 })
    answers = answered
    expect({ status, param: body.error.param }).toEqual({ status: 400, param: 'dimensions' })
    expect(body.error.message).toContain('4 numbers')
  })

  test('reads token arrays as the text that they were made of', async () => {
    const texts = ['How do I reset my password?', 'Grüße aus 東京 🎉']
    const ids = texts.map((text) => getEncoding('cl100k_base').encode(text))
    for (const [input, read] of [[ids, texts] as const, [ids[1]!, [texts[1]]] as const]) {
      expect((await ada.send('POST', 'embeddings', { input }, { 'cache-control': 'no-cache' })).status).toBe(200)
      expect(received.at(-1)!.input).toEqual([...read] as string[])
    }
    const { status, body } = await ask({ input: [[1], [1, 100_300]] })
    expect({ status, param: body.error.param }).toEqual({ status: 400, param: 'input.1' })
    expect(body.error.message).toContain('cl100k_base has no token 100300')
    for (const input of [[1, -1], [1.5], [1, 'x'], [[1], []], Array.from({ length: 300_001 }, () => 1)]) {
      expect((await ask({ input })).status).toBe(400)
    }
  })

  test('reads 299,880 tokens at once, which clients send in 2,040 texts', async () => {
    const rich = await world.person({ tier: 'enterprise', cents: 1_000 })
    const ids = getEncoding('cl100k_base').encode('the tide '.repeat(80)).slice(0, 147)
    const input = Array.from({ length: 2_040 }, (_, at) => [...ids.slice(0, 146), ids[at % 147]!])
    const { status, body } = await rich.send('POST', 'embeddings', { input, encoding_format: 'base64' })
    expect({ status, count: body.data?.length }).toEqual({ status: 200, count: 2_040 })
  }, 60_000)

  test('reads them with the vocabulary of the operator, or not at all', async () => {
    for (const embedTokens of ['o200k_base', 'off'] as const) {
      const eve = await (await createWorld({ config: { embedTokens } })).person()
      const input = getEncoding('o200k_base').encode('Reset the password of my account')
      const { status, body } = await eve.send('POST', 'embeddings', { model: 'svc-1-embed-local', input })
      if (embedTokens === 'off') expect({ status, param: body.error.param }).toEqual({ status: 400, param: 'input' })
      else {
        const text = { model: 'svc-1-embed-local', input: 'Reset the password of my account' }
        expect(body.data).toEqual((await eve.send('POST', 'embeddings', text)).body.data)
      }
    }
  })

  test('splits long lists, and keeps their order', async () => {
    const before = received.length
    const input = Array.from({ length: 300 }, (_, at) => 'x'.repeat(at + 1))
    const { body } = await ask({ input })
    expect(received.slice(before).map(({ input: { length } }) => length)).toEqual([256, 44])
    expect(body.data.map(({ embedding }: { embedding: number[] }) => embedding)).toEqual(
      input.map((text) => vectorOf(text, 4)),
    )
  })

  test('an upstream that answers too few, several lengths or no numbers is a failed engine (docs/api.md 33.6.25)', async () => {
    for (const embeddings of [
      [],
      [[1, 2]],
      [[1, 2], [1]],
      [
        [1, null],
        [1, 2],
      ],
      [['a'], ['b']],
    ]) {
      // Its own server each time, since an engine that keeps failing gets no calls for a while.
      const other = await createWorld({ config: { embedBaseUrl: `${upstream.url.origin}/v1` } })
      answers = () => ({ data: embeddings.map((embedding) => ({ embedding })) })
      const { status, body } = await (await other.person()).send('POST', 'embeddings', { input: ['one', 'two'] })
      expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'engine_unavailable' })
    }
    answers = answered
  })

  test('an upstream that answers base64 all the same is read (docs/api.md 33.6.24)', async () => {
    answers = ({ input }) => ({
      data: input.map((text) => ({
        embedding: Buffer.from(new Float32Array(vectorOf(text, 4)).buffer).toString('base64'),
      })),
    })
    const { body } = await ask({ input: 'one' })
    answers = answered
    expect(body.data[0].embedding).toEqual(vectorOf('one', 4))
  })

  test('an upstream is asked again without the format that it refuses, and may count in `total_tokens` only', async () => {
    answers = (body) =>
      body.encoding_format
        ? Response.json({ detail: [{ loc: ['body', 'encoding_format'], msg: 'extra' }] }, { status: 422 })
        : { data: [{ embedding: vectorOf('text', 4) }], usage: { total_tokens: 6 } }
    const { status, body } = await ask({ input: 'a text of its own' })
    answers = answered
    expect({ status, usage: body.usage }).toMatchObject({ status: 200, usage: { prompt_tokens: 6 } })
  })

  test('is charged by tokens, is in usage and audit, and holds no text there (docs/api.md 33.6.29)', async () => {
    const eve = await world.person()
    const { body } = await eve.send('POST', 'embeddings', { input: 'secret words '.repeat(2_000) })
    expect(body.id).toMatch(/^emb_\w{20,}$/)
    expect(body.svc_metadata).toMatchObject({ vector_space: expect.stringMatching(/^[0-9a-f]{12}$/) })
    const { body: usage } = await eve.send('GET', 'usage')
    expect(usage.by_model['svc-1-embed']).toMatchObject({ requests: 1 })
    expect(usage.totals.cost_cents).toBe(body.svc_metadata.cost_cents)
    const { text } = await eve.send('GET', 'audit?action=embedding.created&limit=1')
    expect(text).toContain('prompt_sha256')
    expect(text).not.toContain('secret words')
    // An index holds the id, so it begins with the time.
    const [, time] = /"emb_(\w{8})\w{16}"/.exec(text)!
    expect(Math.abs(Number.parseInt(time!, 36) - Date.now())).toBeLessThan(60_000)
  })

  test('cuts nothing: what is too long is refused by its place', async () => {
    const { status, body } = await ask({ input: ['short', 'long words '.repeat(9_000)] })
    expect({ status, code: body.error.code, param: body.error.param }).toEqual({
      status: 400,
      code: 'context_length_exceeded',
      param: 'input.1',
    })
    for (const input of ['', [], ['a', '']]) expect((await ask({ input })).status).toBe(400)
  })

  test('another word is answered by svc-1-embed with a warning', async () => {
    const { body } = await ask({ input: 'one', model: 'text-embedding-ada-002' })
    expect(body.model).toBe('svc-1-embed')
    expect(body.svc_metadata.warnings[0]).toContain('text-embedding-ada-002')
  })
})

describe('known vectors (docs/api.md 31 Cache)', () => {
  const callCount = () => received.length

  test('cost nothing, per owner, by exact text and length; no-cache computes them again', async () => {
    const [eve, sam] = [await world.person(), await world.person()]
    const first = await eve.send('POST', 'embeddings', { input: ['kept one', 'kept two'] })
    expect(first.headers.get('x-cache')).toBe('MISS')
    expect(first.body.svc_metadata.cost_cents).toBeGreaterThan(0)
    const before = callCount()
    const again = await eve.send('POST', 'embeddings', { input: ['kept two', 'kept one'], user: 'somebody' })
    expect(again.headers.get('x-cache')).toBe('HIT')
    expect(again.body.data.map(({ embedding }: { embedding: number[] }) => embedding)).toEqual(
      first.body.data.map(({ embedding }: { embedding: number[] }) => embedding).reverse(),
    )
    expect(again.body).toMatchObject({ usage: { prompt_tokens: 0 }, svc_metadata: { cost_cents: 0 } })
    expect(again.body.svc_metadata.vector_space).toBe(first.body.svc_metadata.vector_space)
    expect(callCount()).toBe(before)
    const { text } = await eve.send('GET', 'audit?action=embedding.created&limit=1')
    expect(text).toContain(new Bun.CryptoHasher('sha256').update('somebody').digest('hex'))
    expect(text).not.toContain('somebody"')

    const mixed = await eve.send('POST', 'embeddings', { input: ['kept one', 'new three'] })
    expect(mixed.headers.get('x-cache')).toBe('MISS')
    expect(received.at(-1)!.input).toEqual(['new three'])
    expect(mixed.body.data[0]).toEqual(first.body.data[0])
    for (const [person, body, headers] of [
      [sam, { input: ['kept one'] }, undefined],
      [eve, { input: ['kept one'], dimensions: 7 }, undefined],
      [eve, { input: ['kept one'] }, { 'cache-control': 'no-cache' }],
    ] as const) {
      const sent = callCount()
      expect((await person.send('POST', 'embeddings', body, headers)).status).toBe(200)
      expect(callCount()).toBe(sent + 1)
    }
  })

  test('the policy decides what is embedded: a redacted text is not answered from the plain one', async () => {
    const eve = await world.person()
    const input = ['write to jane@example.org']
    await eve.send('POST', 'embeddings', { input })
    const rules = [{ guardrail_id: 'pii', phase: 'input', verdict: 'redact', config: {} }]
    expect((await eve.send('POST', 'guardrail-policies', { name: 'Mine', rules, is_default: true })).status).toBe(201)
    const before = callCount()
    await eve.send('POST', 'embeddings', { input })
    expect(received.slice(before).flatMap((one) => one.input)).toEqual([expect.not.stringContaining('jane@')])
  })
})

describe('the model of the vectors (docs/api.md 31 Change of model)', () => {
  test('is fixed by the first answer; another length is refused and another model reported until accepted (docs/api.md 33.6.25)', async () => {
    answers = answered
    const changing = await createWorld({ config: { embedBaseUrl: `${upstream.url.origin}/v1` } })
    const eve = await changing.person()
    const renewed = { 'cache-control': 'no-cache' }
    const send = () => eve.send('POST', 'embeddings', { input: 'one' }, renewed)
    const operate = operatorSender(changing)
    const model = async () => (await eve.send('GET', 'models/svc-1-embed')).body
    expect(await model()).toMatchObject({ dimensions: null, engine: 'svc-embed', mode: 'embedding' })
    expect((await send()).status).toBe(200)
    expect(await model()).toMatchObject({ dimensions: 4, context_window: 8_192, status: 'available' })

    answers = (body) => answered({ ...body, dimensions: 5 })
    const refused = await send()
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({
      status: 503,
      code: 'engine_unavailable',
    })
    expect(refused.text).not.toContain('accept')
    const health = async () => (await changing.app.container.health.check()).health
    expect((await health()).providers['svc-embed']!.status).toBe('down')
    const accepted = await operate('POST', 'engines/embed/accept')
    expect(accepted.body).toMatchObject({ was_model: 'text-embedding-3-small', was_length: 4 })
    expect((await health()).providers['svc-embed']!.status).toBe('healthy')
    expect((await send()).body.data[0].embedding).toHaveLength(5)
    expect(await model()).toMatchObject({ dimensions: 5 })

    answers = answered
    await operate('POST', 'engines', {
      ...{ name: 'other', kind: 'compat', base_url: `${upstream.url.origin}/v1`, models: ['next'], test: false },
    })
    await operate('PUT', 'engines/map/embedding', { targets: ['other:next'] })
    expect((await send()).status).toBe(200)
    expect((await health()).providers['svc-embed']!.status).toBe('degraded')
    expect(await model()).toMatchObject({ status: 'degraded', dimensions: null })
    await operate('POST', 'engines/embed/accept')
    expect((await health()).providers['svc-embed']!.status).toBe('healthy')
  })
})

const GOLDEN = [
  ['cat', 'f918b1561b7db878'],
  ['dog', 'ba7a8dab9fc13b9f'],
  ['CAT', 'f918b1561b7db878'],
  ['cats and dogs', 'bf1ba200b94fe0b6'],
  ['How do I reset my password?', '38ae97abacd50f55'],
  ['Reset the password of my account', '6d3565ea7f0d9bca'],
  ['Where can I change my login secret?', '03a44e109d2828b1'],
  ['The weather is nice today', '3f36a87d92ae307b'],
  ['Привет, мир', 'afb12e7d73b5ef46'],
  ['东京 2026', '064984176fa3335a'],
  ['東京タワー', 'e9e05c9bb4b4d8d5'],
  ['안녕하세요', 'eadf08a0dd324a44'],
  ['مرحبا بالعالم', '66d33347be086f29'],
  ['नमस्ते दुनिया', 'cfd1e00943e2557e'],
  ['Gr\u00fc\u00dfe', 'c26846d6ca070c45'],
  ['Gru\u0308\u00dfe', 'c26846d6ca070c45'],
  ['\ufb01ne \ufb02our \u00bd', 'fca6ce265aeefba3'],
  ['!!! … —', 'e5a00aa9991ac8a5'],
  ['😀 👩‍👩‍👧', 'e5a00aa9991ac8a5'],
  ['3.14159 and 2.71828', 'ee6cd3ddb3214222'],
] as const

describe('svc-1-embed-local', () => {
  const local = async (input: string[]) => {
    const { headers, body } = await bob.send('POST', 'embeddings', { input })
    expect(headers.get('x-cache')).toBe('MISS')
    return body
  }

  test('answers in dev mode with a warning, free, with vectors of length 1 that share words', async () => {
    const body = await local([
      'How do I reset my password?',
      'Reset the password of my account',
      'The weather is nice today',
      'How do I reset my password?',
    ])
    expect(body).toMatchObject({ model: 'svc-1-embed-local', svc_metadata: { cost_cents: 0 } })
    expect(body.svc_metadata.warnings).toHaveLength(1)
    const [first, near, far, same] = body.data.map(({ embedding }: { embedding: number[] }) => embedding)
    const like = (a: number[], b: number[]) => a.reduce((sum, number, at) => sum + number * b[at]!, 0)
    expect(first).toHaveLength(512)
    expect(same).toEqual(first)
    expect(like(first, first)).toBeCloseTo(1, 5)
    expect(like(first, near)).toBeGreaterThan(0.6)
    expect(like(first, far)).toBeLessThan(0.2)
  })

  test('is fixed for ever: the first 16 digits of the SHA-256 of the vectors of 20 texts', async () => {
    const { data } = await local(GOLDEN.map(([text]) => text))
    const found = data.map(({ embedding }: { embedding: number[] }, at: number) => [
      GOLDEN[at]![0],
      new Bun.CryptoHasher('sha256').update(new Float32Array(embedding)).digest('hex').slice(0, 16),
    ])
    expect(found).toEqual(GOLDEN)
  })

  test.each([
    ['How do I reset my password?', 'Reset the password of my account', 0.69],
    ['How do I reset my password?', 'Where can I change my login secret?', 0.1],
    ['How do I reset my password?', 'The weather is nice today', 0.13],
    ['cat', 'dog', 0],
    ['CAT', 'cat', 1],
  ])('%j is like %j by %d: words count, not meaning', async (one, other, likeness) => {
    const [a, b] = (await local([one, other])).data.map(({ embedding }: { embedding: number[] }) => embedding)
    expect(a.reduce((sum: number, number: number, at: number) => sum + number * b[at], 0)).toBeCloseTo(likeness, 2)
  })

  test('is not given in production, where no engine is connected', async () => {
    const strict = await createWorld({
      config: { production: true, publicUrl: 'https://svc.example', engineBuiltin: false },
    })
    const carol = await strict.person()
    const { status, body, headers } = await carol.send('POST', 'embeddings', { input: 'one' })
    expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'embeddings_unavailable' })
    // Packages would wait for a minute, twice.
    expect(headers.get('x-should-retry')).toBe('false')
    expect((await carol.send('POST', 'embeddings', { input: 'one', model: 'svc-1-embed-local' })).status).toBe(404)
  })
})
