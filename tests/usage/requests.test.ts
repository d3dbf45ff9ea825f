import { expect, test } from 'bun:test'
import { usageRecords } from '../../src/usage/table'
import { createWorld, type Person } from '../support/world'

const world = await createWorld()
const person = await world.person()
const complete = async (who: Person, prompt: string, mode: string) =>
  (await who.send('POST', 'completions', { prompt, mode })).body.request_id as string

test('calls are listed newest first, a page at a time, and each is found by its id', async () => {
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.unshift(await complete(person, `Count to ${n + 3}`, n % 2 ? 'think' : 'fast'))
  const found: string[] = []
  for (let cursor = ''; ; ) {
    const { body } = await person.send('GET', `requests?limit=2${cursor && `&cursor=${cursor}`}`)
    found.push(...body.requests.map(({ request_id }: { request_id: string }) => request_id))
    if (!body.has_more) break
    cursor = body.next_cursor
  }
  expect(found).toEqual(ids)
  expect((await person.send('GET', 'requests?limit=200')).status).toBe(200)
  expect((await person.send('GET', 'requests?limit=201')).body.error).toMatchObject({ param: 'limit' })
  const { body } = await person.send('GET', `requests/${ids[0]}`)
  expect(body.request).toMatchObject({ request_id: ids[0], mode: 'fast', status: 200, endpoint: '/completions' })
  const { steps, request } = body
  const end = Math.max(...steps.map(({ at_ms, ms }: { at_ms: number; ms: number }) => at_ms + ms))
  expect(end).toBeCloseTo(request.latency_ms, 0)
})

test('filters select by mode, state, time, cost and the beginning of an id', async () => {
  const count = async (query: string) => (await person.send('GET', `requests?${query}`)).body.requests.length
  const [first] = (await person.send('GET', 'requests')).body.requests
  expect({
    all: await count(''),
    think: await count('mode=think'),
    ok: await count('status=2xx'),
    failed: await count('status=5xx'),
    slow: await count('min_ms=900000'),
    streamed: await count('stream=true'),
    id: await count(`q=${first.request_id.slice(0, 12)}`),
    before: await count('to=2026-01-01&from=2025-12-01'),
  }).toEqual({ all: 5, think: 2, ok: 5, failed: 0, slow: 0, streamed: 0, id: 1, before: 0 })
  expect((await person.send('GET', 'requests/count?mode=think')).body).toMatchObject({ count: 2, capped: false })
  expect((await person.send('GET', 'requests?status=9xx')).status).toBe(400)
  expect((await person.send('GET', 'requests?cursor=none')).status).toBe(400)
})

test('metadata and the conversation are filters, columns, and the same ones of the export', async () => {
  const tagged = await world.person()
  const made = await tagged.send('POST', 'completions', {
    ...{ prompt: 'What is 7 * 8?', mode: 'auto' },
    metadata: { team: 'search', run: '7', 'a"b': 'c' },
  })
  const plain = await complete(tagged, 'Count to four', 'fast')
  const { conversation_id: conversation, request_id: id } = made.body
  const ids = async (query: string) =>
    (await tagged.send('GET', `requests?${query}`)).body.requests.map((row: { request_id: string }) => row.request_id)
  expect({
    team: await ids('metadata.team=search'),
    both: await ids('metadata.team=search&metadata.run=7'),
    other: await ids('metadata.team=sales'),
    quoted: await ids('metadata.a%22b=c'),
    conversation: await ids(`conversation_id=${conversation}`),
    all: await ids(''),
  }).toEqual({ team: [id], both: [id], other: [], quoted: [], conversation: [id], all: [plain, id] })
  const { request, routing, money, tools, guardrails } = (await tagged.send('GET', `requests/${id}`)).body
  expect(request.metadata).toMatchObject({ team: 'search' })
  expect(request.conversation_id).toBe(conversation)
  expect(routing).toMatchObject({ source: expect.any(String), skipped: [] })
  expect(money.charged_cents).toBe(request.cost_cents)
  expect({ tools, guardrails }).toEqual({ tools: [], guardrails: [] })
  const lines = async (query: string) =>
    (await tagged.send('GET', `usage/export?format=jsonl&${query}`)).text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).request_id)
  expect(await lines('metadata.team=search')).toEqual([id])
  expect(await lines(`conversation_id=${conversation}&status=2xx`)).toEqual([id])
  expect(await lines('status=5xx')).toEqual([])
  expect(await lines('')).toEqual([plain, id])
})

test('nobody else sees them, and a key sees only its own', async () => {
  const id = await complete(person, 'Count to nine', 'fast')
  const stranger = await world.person()
  expect((await stranger.send('GET', 'requests')).body.requests).toEqual([])
  expect((await stranger.send('GET', `requests/${id}`)).status).toBe(404)
  const session = await world.signedIn(person)
  const other = (await session.send('POST', 'keys', { name: 'Other' })).body
  const { body } = await world.send('GET', 'requests', undefined, { authorization: `Bearer ${other.key}` })
  expect(body.requests).toEqual([])
  expect((await session.send('GET', `requests/${id}`)).body.request.api_key_id).toBe(person.keyId)
})

test('a filter that matches little is evaluated in steps, and no call is missed or shown twice', async () => {
  const { store } = world.app
  const other = await world.person()
  const at = Date.now() - 60_000
  const call = {
    owner: `user:${other.userId}`,
    user_id: other.userId,
    endpoint: '/completions',
    ...{ prompt_tokens: 1, completion_tokens: 1, cost_micro: 0, cached: false, latency_ms: 5, fallback_used: false },
  } as const
  const made = Array.from({ length: 9_000 }, (_, n) => ({
    ...{ ...call, at: at - Math.floor(n / 3), request_id: `req_${n}`, status: n % 4_400 === 4_399 ? 503 : 200 },
  }))
  await store.write(async (tx) => {
    for (let from = 0; from < made.length; from += 500)
      await tx.insert(tx.of(usageRecords)).values(made.slice(from, from + 500) as never)
  })
  const session = await world.signedIn(other)
  const failed: string[] = []
  for (let cursor = ''; ; ) {
    const { body } = await session.send('GET', `requests?status=5xx${cursor && `&cursor=${cursor}`}`)
    failed.push(...body.requests.map(({ request_id }: { request_id: string }) => request_id))
    if (!body.has_more) break
    cursor = body.next_cursor
  }
  const counts = await Promise.all(
    ['status=5xx', 'status=2xx'].map(
      async (query) => (await session.send('GET', `requests/count?${query}`)).body.count,
    ),
  )
  expect(failed).toEqual(['req_4399', 'req_8799'])
  expect(counts).toEqual([2, 8_998])
  expect((await session.send('GET', 'requests/req_8999')).body.request.request_id).toBe('req_8999')
})

test('a call says whether its trace can still be read', async () => {
  const day = 86_400_000
  const old = await world.person()
  const call = {
    ...{ owner: `user:${old.userId}`, user_id: old.userId, endpoint: '/completions', status: 200 },
    ...{ prompt_tokens: 1, completion_tokens: 1, cost_micro: 0, cached: false, latency_ms: 5, fallback_used: false },
  } as const
  const made = [93, 91].map((days) => ({ ...call, at: Date.now() - days * day, request_id: `req_before_${days}` }))
  await world.app.store.write((tx) => tx.insert(tx.of(usageRecords)).values(made as never))
  const from = new Date(Date.now() - 100 * day).toISOString()
  const session = await world.signedIn(old)
  for (const { request_id, has_trace, method } of (await session.send('GET', `requests?from=${from}`)).body.requests) {
    expect({ request_id, has_trace, method }).toEqual({
      ...{ request_id, method: 'POST' },
      has_trace: request_id === 'req_before_91',
    })
    expect((await session.send('GET', `requests/${request_id}`)).status).toBe(has_trace ? 200 : 404)
  }
})

test('calls are split by the guardrail that fired, with its verdict, and by the preference that chose', async () => {
  const ruled = await world.person()
  const pattern = '\\border\\b'
  const preference = await ruled.send('POST', 'routing-preferences', {
    ...{ name: 'Orders', is_default: true, rules: [{ pattern, target_mode: 'think', confidence: 0.95 }] },
  })
  const rule = { guardrail_id: 'max_length', phase: 'output', verdict: 'flag', config: { max_chars: 10 } }
  const policy = await ruled.send('POST', 'guardrail-policies', { name: 'Short', is_default: true, rules: [rule] })
  const id = (await ruled.send('POST', 'completions', { prompt: 'Where is my order?', mode: 'auto' })).body.request_id
  const plain = await complete(ruled, 'Count to four', 'fast')
  const split = async (group: string) => {
    const { body } = await ruled.send('GET', `usage/series?step=1d&group_by=${group}`)
    const lines = body.series.map(({ key, requests }: { key: string; requests: number[] }) => [key, requests.at(-1)])
    return { lines, requests: body.totals.requests }
  }
  expect(await split('preference')).toEqual({ lines: [[preference.body.id, 1]], requests: 2 })
  expect(await split('guardrail')).toEqual({ lines: [['max_length:flag', 2]], requests: 2 })
  // Another policy with the same rule counts only what fired by itself.
  expect(await split('policy')).toEqual({ lines: [[`${policy.body.id}:flag`, 2]], requests: 2 })
  expect((await ruled.send('GET', `requests/${id}`)).body.guardrail_policy_id).toBe(policy.body.id)
  const ids = async (query: string) =>
    (await ruled.send('GET', `requests?${query}`)).body.requests.map((row: { request_id: string }) => row.request_id)
  expect({ any: await ids('guardrail=*'), other: await ids('guardrail=pii') }).toEqual({ any: [plain, id], other: [] })
})
