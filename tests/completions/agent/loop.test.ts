import { describe, expect, test } from 'bun:test'
import { createAgent } from '../../../src/completions'
import type { Task } from '../../../src/completions/agent-schema'
import type { EngineService, RunRequest } from '../../../src/engines'
import type { Tools } from '../../../src/tools'
import { fakeClock } from '../../support/clock'
import { taskOf, watch } from './task'

const source = { engineId: 'svc-1-flash', free: false, fallbackUsed: true }
/** What a thought without tools has none of. */
const alone = { toolUses: [], toolCalls: [], warnings: [] }

const usage = { promptTokens: 3, completionTokens: 2, stated: true }

/** Engines that note what they are asked and answer two words. */
function scripted() {
  const clock = fakeClock()
  const requests: { engineId: string; request: RunRequest }[] = []
  let left = false
  async function* parts() {
    try {
      yield { type: 'text-delta', text: 'two ' } as const
      yield { type: 'text-delta', text: 'words' } as const
      yield { type: 'usage', ...usage } as const
      yield { type: 'finish', reason: 'length' } as const
    } finally {
      left = true
    }
  }
  const engines = {
    answer: async (engineId: string, request: RunRequest) => {
      requests.push({ engineId, request })
      return { ...source, text: 'two words', reasoning: '', refusal: '', toolCalls: [], finish: 'stop', usage }
    },
    run: async (engineId: string, request: RunRequest) => {
      requests.push({ engineId, request })
      clock.advance(40)
      return { ...source, parts: parts(), soFar: () => usage }
    },
  } as unknown as EngineService
  const tools = {} as Tools
  return { agent: createAgent({ engines, tools, clock }), asked: requests, wasLeft: () => left }
}

const task = (input: Partial<Task> = {}): Task =>
  taskOf({
    system: 'Be kind.',
    history: [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'first' },
    ],
    prompt: 'two',
    maxOutputTokens: 100,
    ...input,
  })

describe('one thought', () => {
  test('asks one engine once, system first, prompt last', async () => {
    const { agent, asked: requests } = scripted()
    await agent.answer(task())
    expect(requests).toHaveLength(1)
    expect(requests[0]).toMatchObject({ engineId: 'svc-1-flash', request: { mode: 'fast', maxOutputTokens: 100 } })
    expect(requests[0]!.request.messages).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'first' },
      { role: 'user', content: 'two' },
    ])
  })

  test('sends only what was asked for', async () => {
    const { agent, asked: requests } = scripted()
    await agent.answer(task({ system: null, history: [] }))
    expect(requests[0]!.request).not.toHaveProperty('temperature')
    expect(requests[0]!.request).not.toHaveProperty('json')
    expect(requests[0]!.request.messages).toHaveLength(1)
    await agent.answer(task({ temperature: 0, json: true }))
    expect(requests[1]!.request).toMatchObject({ temperature: 0, json: true })
  })

  test('shows pictures before the words', async () => {
    const { agent, asked: requests } = scripted()
    await agent.answer(task({ images: [{ mimeType: 'image/png', base64: 'AAAA' }] }))
    expect(requests[0]!.request.messages.at(-1)).toEqual({
      role: 'user',
      content: [
        { type: 'image', mimeType: 'image/png', base64: 'AAAA' },
        { type: 'text', text: 'two' },
      ],
    })
  })

  test('says who answered, and what it took', async () => {
    const { agent } = scripted()
    const result = await agent.answer(task())
    expect(result.turns).toMatchObject([{ engineId: 'svc-1-flash', promptTokens: 3, completionTokens: 2 }])
    expect({ ...result, turns: [] }).toEqual({
      turns: [],
      ...alone,
      content: 'two words',
      reasoning: '',
      refusal: '',
      finish: 'stop',
      promptTokens: 3,
      completionTokens: 2,
      ...source,
      ttftMs: null,
    })
  })

  test('aloud is the same, with its text as it comes and the time to the first of it', async () => {
    const { agent } = scripted()
    const { seen, agentResult: result } = await watch((emit) => agent.answer(task(), emit))
    expect(seen).toEqual([
      { type: 'text', text: 'two ' },
      { type: 'text', text: 'words' },
    ])
    expect({ ...result, turns: [] }).toEqual({
      turns: [],
      ...alone,
      content: 'two words',
      reasoning: '',
      refusal: '',
      finish: 'length',
      promptTokens: 3,
      completionTokens: 2,
      ...source,
      ttftMs: 40,
    })
  })

  test('left in the middle lets go of the engine', async () => {
    const { agent, wasLeft } = scripted()
    const left = new Error('left')
    const leaving = () => {
      throw left
    }
    await expect(agent.answer(task(), leaving)).rejects.toBe(left)
    expect(wasLeft()).toBe(true)
  })
})
