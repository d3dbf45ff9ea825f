import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { assembleSystem, createAgent, fitHistory, modeOfCall, type Voice } from '../../../src/completions'
import { fitResults } from '../../../src/completions/agent-loop'
import type { Task } from '../../../src/completions/agent-schema'
import { newCallId } from '../../../src/completions/agent-turn'
import {
  countPrompt,
  countTokens,
  ENGINES,
  type EngineService,
  type Message,
  type RunRequest,
} from '../../../src/engines'
import type { TakePart } from '../../../src/engines/meter'
import { fence, withoutFence } from '../../../src/kernel/fence'
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
  const engines = {
    answer: async (engineId: string, request: RunRequest) => {
      requests.push({ engineId, request })
      return { ...source, text: 'two words', reasoning: '', refusal: '', toolCalls: [], finish: 'stop', usage }
    },
    run: async (engineId: string, request: RunRequest, take: TakePart) => {
      requests.push({ engineId, request })
      clock.advance(40)
      try {
        await take({ type: 'text', text: 'two ' })
        await take({ type: 'text', text: 'words' })
        await take({ type: 'usage', ...usage })
        await take({ type: 'finish', reason: 'length' })
      } finally {
        left = true
      }
      return source
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
    const result = await scripted().agent.answer(task())
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

  test('a streamed run is the same, with its text as it arrives and the time to its first token', async () => {
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

const MODES = ENGINES.map(({ mode }) => mode)

test.each(MODES)('an id of mode %s says so, and looks like any other', (mode) => {
  const ids = Array.from({ length: 200 }, () => newCallId(mode))
  expect(new Set(ids).size).toBe(200)
  for (const id of ids) {
    expect(id).toMatch(/^call_[0-9A-Za-z]{24}$/)
    expect(modeOfCall(id, MODES)).toBe(mode)
  }
})

test.each(['', 'call_', 'call_1', 'call_abcdefghijklmnopqrstuvwx', 'toolu_abcdefghijklmnopqrstuvwx', 'x'.repeat(128)])(
  '%p is not ours',
  (id) => expect(modeOfCall(id, MODES)).toBeNull(),
)

const voice = (overrides: Partial<Voice> = {}): Voice => ({
  mode: 'fast',
  persona: 'svc',
  personality: null,
  style: null,
  branding: true,
  componentLibrary: 'svc',
  soul: null,
  memories: [],
  skills: null,
  ...overrides,
})

const traits = (changes: Record<string, number>) => ({ traits: changes, uncensored_mode: false })

describe('the system prompt', () => {
  test('has its parts in one order: persona, mode, personality, style', () => {
    const text = assembleSystem(
      voice({ mode: 'think', personality: traits({ funny: 80 }), style: { format: 'table' } }),
    )!
    const places = ['You are Svc', 'Reason step by step', 'Your manner is', 'Form of the answer'].map((part) =>
      text.indexOf(part),
    )
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(places.every((place) => place >= 0)).toBe(true)
    expect(text.split('\n\n')).toHaveLength(4)
  })

  test('is nothing for no persona in a mode without a form', () => {
    expect(assembleSystem(voice({ persona: 'none' }))).toBeNull()
    expect(assembleSystem(voice({ persona: 'none', mode: 'code' }))).toBeNull()
  })

  test.each(['genui', 'domain_analysis', 'data_extraction'])(
    'for no persona still asks mode %s for its form',
    (mode) => {
      expect(assembleSystem(voice({ persona: 'none', mode }))).not.toBeNull()
    },
  )

  test.each([
    [0, ''],
    [10, ''],
    [11, 'slightly witty'],
    [40, 'slightly witty'],
    [41, 'rather witty'],
    [75, 'rather witty'],
    [76, 'very witty'],
    [100, 'very witty'],
  ])('a trait of %i reads %j', (witty, words) => {
    const text = assembleSystem(voice({ personality: traits({ witty }) }))!
    expect(text.includes('Your manner is')).toBe(words !== '')
    expect(text).toContain(words)
  })

  test('of an unknown mode is the persona alone', () => {
    expect(assembleSystem(voice({ mode: 'nothing' }))).not.toContain('\n\n')
  })
})

const result = (content: string, toolCallId = 'c1'): Message => ({
  role: 'tool',
  toolCallId,
  toolName: 'look',
  content,
})

const words = (count: number): string => 'word '.repeat(count)
const lengths = (messages: readonly Message[]) => messages.map(({ content }) => content.length)

describe('what tools found', () => {
  test('is left as it is where there is room', () => {
    const messages = [{ role: 'user' as const, content: 'Look' }, result(words(1_000))]
    const before = structuredClone(messages)
    fitResults(messages, 10_000, countPrompt)
    expect(messages).toEqual(before)
  })

  test('is cut, the longest first, until all of it fits', () => {
    const messages = [{ role: 'user' as const, content: words(300) }, result(words(8_000)), result(words(100), 'c2')]
    fitResults(messages, 2_000, countPrompt)
    expect(countPrompt(messages)).toBeLessThanOrEqual(2_000)
    expect(lengths(messages)[0]).toBe(1_500)
    expect(lengths(messages)[2]).toBe(500)
    expect(messages[1]!.content).toContain('[cut here to make room]')
  })

  test('keeps its fence', () => {
    const messages = [result(fence('look', words(5_000)))]
    fitResults(messages, 500, countPrompt)
    const text = messages[0]!.content as string
    expect(text).not.toBe(withoutFence(text))
    expect(withoutFence(text)).toStartWith('word word')
  })

  test('is never cut in the middle of a character, nor to nothing', () => {
    const messages = [result('😀'.repeat(20_000))]
    fitResults(messages, 1, countPrompt)
    expect((messages[0]!.content as string).isWellFormed()).toBe(true)
    expect(lengths(messages)[0]).toBeWithin(200, 401)
  })
})

/** Words that come up once, so that no sentence of them is central. */
const filler = (number: number, words: number): string =>
  Array.from({ length: words }, (_, place) => `word${number}x${place}`).join(' ')

const turn = (number: number, words = 60): Message[] => [
  { role: 'user', content: `Question ${number} about harbours and ships? ${filler(number, words)}` },
  { role: 'assistant', content: `Answer ${number}: the harbour closes at nine. ${filler(number + 100, words)}` },
]

const long = Array.from({ length: 20 }, (_, number) => turn(number)).flat()

describe('a history that is too long', () => {
  test('stays as it is while it fits', () => {
    expect(fitHistory(long, 1_000_000, countPrompt)).toEqual({ turns: long, summary: null })
    expect(fitHistory([], 10, countPrompt)).toEqual({ turns: [], summary: null })
  })

  test('keeps its newest turns whole, and the older ones as sentences of their own', () => {
    const { turns, summary } = fitHistory(long, 2_000, countPrompt)
    expect(summary).toContain('User: Question')
    expect(summary).toContain('about harbours and ships?')
    expect(turns[0]!.role).toBe('user')
    expect(turns).toEqual(long.slice(long.length - turns.length))
  })

  test('with calls in it is left alone', () => {
    const calls: Message[] = [...long, { role: 'tool', toolCallId: 'a', toolName: 'b', content: 'c' }]
    expect(fitHistory(calls, 100, countPrompt).turns).toBe(calls)
  })

  test('fits its room whatever it holds', () => {
    const message = fc.record({ role: fc.constantFrom('user' as const, 'assistant' as const), content: fc.string() })
    fc.assert(
      fc.property(fc.array(message, { maxLength: 40 }), fc.integer({ min: 20, max: 500 }), (history, room) => {
        const { turns, summary } = fitHistory(history, room, countPrompt)
        const tokens = countPrompt(turns) + countTokens(summary ?? '')
        expect(turns === history || tokens <= room + 10).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})
