import { describe, expect, test } from 'bun:test'
import { readFrames } from '../support/frames'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const { world, upstream } = await createUpstreamWorld()
const ada = await world.person({ cents: 100 })

const tools = [
  {
    name: 'look_up',
    description: 'Looks something up.',
    input_schema: { type: 'object', required: ['q'], properties: { q: { type: 'string' } } },
  },
]

const ask = (script: string, more: object = {}) =>
  ada.send('POST', 'completions', { prompt: freshPrompt(script), conversation_id: null, mode: 'fast', tools, ...more })

describe('a request with tools', () => {
  test('is answered from what they gave, and shows each call with its arguments', async () => {
    upstream.reset()
    const { status, body } = await ask('[[plan:look_up{"q":"a"}]] [[say:It is a.]]')
    expect(status).toBe(200)
    expect(body.content).toBe('It is a.')
    expect(body.tools_used).toMatchObject([
      { name: 'look_up', status: 'success', arguments: { q: 'a' }, result: { acknowledged: true } },
    ])
    expect(upstream.calls).toHaveLength(2)
  })

  test('pays for every turn, and leaves no hold', async () => {
    const before = (await ada.send('GET', 'usage')).body.balance.balance_cents
    const { body } = await ask('[[plan:look_up{"q":"a"}|look_up{"q":"b"}]]')
    expect(body.usage.prompt_tokens).toBe(33)
    const { balance } = (await ada.send('GET', 'usage')).body
    expect(balance.balance_cents).toBeCloseTo(before - body.usage.cost_cents, 6)
    expect(balance.reserved_cents).toBe(0)
  })

  test('reads what was wrong with its arguments, and may do better', async () => {
    const { body } = await ask('[[plan:look_up{"q":1}|look_up{"q":"b"}]]')
    expect(body.tools_used.map(({ status }: { status: string }) => status)).toEqual(['error', 'success'])
  })

  test('stops at max_iterations with an answer and a warning', async () => {
    upstream.reset()
    const { body } = await ask('[[plan:look_up{"q":"a"}]] [[always]]', { max_iterations: 2 })
    expect(upstream.calls).toHaveLength(3)
    expect(upstream.calls.at(-1)!.body.tool_choice).toBe('none')
    expect(body.warnings.join()).toContain('max_iterations')
  })

  test('is on the record with the names of what was used', async () => {
    const { body } = await ask('[[plan:look_up{"q":"secret word"}]]')
    const [event] = (await ada.send('GET', `audit?entity_id=${body.id}`)).body
    expect(event.outputSummary.tools_used).toEqual(['look_up'])
    expect(JSON.stringify(event)).not.toContain('secret word')
  })

  test('streams each call as it begins and ends', async () => {
    const frames = readFrames((await ask('[[plan:look_up{"q":"a"}]] [[say:It is a.]]', { stream: true })).text)
    const calls = frames.filter(({ event }) => event === 'tool').map(({ data }) => data as Record<string, unknown>)
    expect(calls).toMatchObject([
      { name: 'look_up', status: 'running', arguments: { q: 'a' } },
      { name: 'look_up', status: 'success', result: { acknowledged: true } },
    ])
    expect(calls[0]!.id).toBe(calls[1]!.id)
    expect(frames.some(({ event }) => event === 'thinking')).toBe(true)
    expect(frames.at(-1)).toMatchObject({
      event: 'done',
      data: { content: 'It is a.', tools_used: [{ name: 'look_up' }] },
    })
  })
})

test('credit that does not cover another turn stops the tools', async () => {
  const poor = await world.person({ cents: 0.4 })
  const prompt = freshPrompt('[[while:So far.]] [[plan:look_up{"q":"a"}]] [[always]]')
  const { status, body } = await poor.send('POST', 'completions', {
    prompt,
    conversation_id: null,
    mode: 'fast',
    tools,
    max_iterations: 20,
  })
  expect(status).toBe(200)
  expect(body.warnings.join()).toMatch(/credit|max_iterations/)
  expect((await poor.send('GET', 'usage')).body.balance).toMatchObject({ reserved_cents: 0 })
})
