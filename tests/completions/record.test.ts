import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { completionCreated } from '../../src/charging'
import { sha256Hex } from '../../src/kernel/crypto'
import { usageRecords } from '../../src/usage/table'
import type { Person } from '../support/world'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const { world } = await createUpstreamWorld()
const ada = await world.person()

const auditOf = async (person: Person, requestId: string) =>
  (await person.send('GET', `audit?request_id=${requestId}`)).body as Record<string, never>[]

async function usageOf(requestId: string) {
  const { read } = world.app.store
  const table = read.of(usageRecords)
  return read.select().from(table).where(eq(table.request_id, requestId))
}

const SECRET = 'canary-prompt-text-4711'

describe('every completion leaves its rows', () => {
  test('one of audit, one of usage, and the prompt in neither (docs/api.md 2.4, I19)', async () => {
    const prompt = freshPrompt(`${SECRET} [[say:canary-answer]]`)
    const { headers, body } = await ada.send('POST', 'completions', { prompt, mode: 'fast', metadata: { ticket: 7 } })
    const requestId = headers.get('x-request-id')!
    const [event, ...more] = await auditOf(ada, requestId)
    expect(more).toEqual([])
    expect(event).toMatchObject({
      action: 'completion.created',
      entityType: 'completion',
      entityId: body.id,
      userId: ada.userId,
      apiKeyId: ada.keyId,
      requestId,
      inputSummary: {
        method: 'POST',
        endpoint: '/completions',
        api_key_id: ada.keyId,
        mode: 'fast',
        prompt_sha256: sha256Hex(prompt),
        prompt_length: prompt.length,
        metadata: { ticket: 7 },
      },
      outputSummary: {
        status: 200,
        engine: 'svc-1-flash',
        cost_cents: body.usage.cost_cents,
        tools_used: [],
        fallback_used: false,
      },
    })
    expect(JSON.stringify(event)).not.toContain('canary')

    const [row, ...others] = await usageOf(requestId)
    expect(others).toEqual([])
    expect(row).toMatchObject({
      owner: `user:${ada.userId}`,
      api_key_id: ada.keyId,
      endpoint: '/completions',
      mode: 'fast',
      resolved_mode: 'fast',
      model: 'svc-1-flash',
      status: 200,
      prompt_tokens: 11,
      completion_tokens: 1,
      cost_micro: body.usage.cost_cents * 1_000_000,
      cached: false,
      fallback_used: false,
      ttft_ms: null,
    })
    expect(world.logged.join('')).not.toContain('canary')
  })

  test.each([
    ['a stream', 'completions', { prompt: 'x [[say:y]]', stream: true }, '/completions'],
    ['chat', 'chat/completions', { messages: [{ role: 'user', content: 'x' }] }, '/chat/completions'],
    [
      'a chat stream',
      'chat/completions',
      { messages: [{ role: 'user', content: 'x' }], stream: true },
      '/chat/completions',
    ],
  ])('%s too', async (_, path, input, endpoint) => {
    const requestId = (await ada.send('POST', path, input)).headers.get('x-request-id')!
    expect(await auditOf(ada, requestId)).toMatchObject([{ action: 'completion.created', inputSummary: { endpoint } }])
    const rows = await usageOf(requestId)
    expect(rows).toMatchObject([{ endpoint, status: 200 }])
    expect(rows[0]!.ttft_ms === null).toBe(!('stream' in input))
  })

  test('a hit is one of each, at no cost and cached', async () => {
    const input = { prompt: freshPrompt() }
    await ada.send('POST', 'completions', input)
    const requestId = (await ada.send('POST', 'completions', input)).headers.get('x-request-id')!
    expect(await auditOf(ada, requestId)).toMatchObject([
      { action: 'completion.created', outputSummary: { cost_cents: 0 } },
    ])
    expect(await usageOf(requestId)).toMatchObject([{ cost_micro: 0, cached: true, status: 200 }])
  })

  test('record and event have the id that the caller got, whatever the form of the answer (docs/api.md 14.2)', async () => {
    const bob = await world.person()
    const notices: string[] = []
    for (const { container } of world.nodes)
      container.events.afterCommit(completionCreated, ({ data }) => notices.push(data.completion_id))
    const prompt = freshPrompt()
    const request = { messages: [{ role: 'user', content: prompt }] }
    const orders = [
      ['completions', { prompt }],
      ['completions', { prompt }],
      ['completions', { prompt, format: 'compat' }],
      ['completions', { prompt, stream: true }],
      ['completions', { prompt, stream: true, format: 'compat' }],
      ['completions', { prompt: freshPrompt(), stream: true }],
      ['chat/completions', request],
      ['chat/completions', { ...request, stream: true }],
      ['responses', { input: freshPrompt() }],
      ['responses', { input: freshPrompt(), stream: true }],
      ['messages', { ...request, max_tokens: 50 }],
      ['messages', { ...request, max_tokens: 50, stream: true }],
    ] as const
    const ids: string[] = []
    for (const [path, input] of orders) {
      const { headers, text } = await bob.send('POST', path, input)
      const id = /"id":"((?:(?:chat)?cmpl|resp|msg)_\w+)"/.exec(text)![1]!
      ids.push(id)
      expect(await auditOf(bob, headers.get('x-request-id')!)).toMatchObject([{ entityId: id }])
      expect(notices.at(-1)).toBe(id)
      const correction = await bob.send('POST', 'routing-corrections', { completion_id: id, expected_mode: 'code' })
      expect(correction.status).toBe(201)
    }
    expect(notices).toHaveLength(orders.length)
    expect(new Set(ids.slice(0, 5).map((id) => id.replace('chat', ''))).size).toBe(1)
    expect(ids.slice(0, 8).map((id) => id.startsWith('chat'))).toEqual([
      false,
      false,
      true,
      false,
      true,
      false,
      true,
      true,
    ])
  })

  test('a failure is one of each, as failed', async () => {
    const { headers } = await ada.send('POST', 'completions', { prompt: freshPrompt('[[401]]'), mode: 'fast' })
    const requestId = headers.get('x-request-id')!
    expect(await auditOf(ada, requestId)).toMatchObject([
      { action: 'completion.failed', outputSummary: { status: 503, error_code: 'engine_unavailable', cost_cents: 0 } },
    ])
    expect(await usageOf(requestId)).toMatchObject([{ status: 503, cost_micro: 0, completion_tokens: 0 }])
  })

  test('and one event that names no words of it', async () => {
    const seen: unknown[] = []
    for (const { container } of world.nodes) container.events.afterCommit('*', (event) => seen.push(event))
    const { body } = await ada.send('POST', 'completions', { prompt: freshPrompt(SECRET), mode: 'think' })
    expect(seen).toHaveLength(1)
    expect(JSON.stringify(seen)).toContain(body.id)
    expect(JSON.stringify(seen)).not.toContain('canary')
  })

  test('org keys write to the org’s record, read by nobody else', async () => {
    const carol = await world.person({ ofOrg: true })
    const requestId = (await carol.send('POST', 'completions', { prompt: freshPrompt() })).headers.get('x-request-id')!
    expect(await auditOf(carol, requestId)).toMatchObject([{ orgId: carol.orgId }])
    expect(await auditOf(ada, requestId)).toEqual([])
  })

  test('the chain holds', async () => {
    expect(await world.app.container.audit.verify(world.app.store.read)).toEqual([])
  })
})
