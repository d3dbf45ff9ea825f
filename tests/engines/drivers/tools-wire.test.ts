import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { createAiSdkDriver } from '../../../src/engines/drivers/ai-sdk-client'
import { createCompatDriver } from '../../../src/engines/drivers/compat-client'
import type { Driver, EngineRequest, Message, ToolChoice } from '../../../src/engines/engine'
import { collect, plain, request, streamed } from '../../suites/engine.suite'
import { fakeClock } from '../../support/clock'
import { startUpstream, type Upstream } from '../../support/upstream'
import { chatDialect, type Dialect, type Json } from '../../support/upstream/dialect'
import { generateDialect, messagesDialect, responsesDialect } from '../../support/upstream/vendors'

type Kind = 'compat' | 'anthropic' | 'google' | 'openai'
type Stand = { upstream: Upstream; driver: Driver }

async function open(kind: Kind, dialect: Dialect): Promise<Stand> {
  const upstream = await startUpstream({ dialect })
  const options = { baseUrl: upstream.url, apiKey: 'sk-test', clock: fakeClock() }
  if (kind === 'compat') return { upstream, driver: createCompatDriver({ ...options, outputLimitField: 'max_tokens' }) }
  return { upstream, driver: createAiSdkDriver({ ...options, vendor: kind }) }
}

const STANDS: Record<Kind, Stand> = {
  compat: await open('compat', chatDialect),
  anthropic: await open('anthropic', messagesDialect),
  google: await open('google', generateDialect),
  openai: await open('openai', responsesDialect),
}
const KINDS = Object.keys(STANDS) as Kind[]
afterAll(async () => void (await Promise.all(KINDS.map((kind) => STANDS[kind].upstream.stop()))))
beforeEach(() => {
  for (const kind of KINDS) STANDS[kind].upstream.reset()
})

const schema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] }
const tools = [
  { name: 'look', description: 'Looks', parameters: schema },
  { name: 'listen', description: 'Listens', parameters: schema },
]

async function sent(kind: Kind, more: Partial<EngineRequest>, prompt = 'Hi') {
  const { driver, upstream } = STANDS[kind]
  await plain(driver, request(prompt, more))
  expect(upstream.faults).toEqual([])
  return upstream.calls[0]!.body
}

describe('a tool choice, in the format of each upstream', () => {
  const NOTICES: [Kind, (body: Json) => unknown, unknown[]][] = [
    [
      'compat',
      ({ tool_choice }) => tool_choice,
      ['auto', 'none', 'required', { type: 'function', function: { name: 'look' } }],
    ],
    [
      'anthropic',
      ({ tool_choice }) => tool_choice,
      [{ type: 'auto' }, { type: 'none' }, { type: 'any' }, { type: 'tool', name: 'look' }],
    ],
    [
      'google',
      ({ toolConfig }) => (toolConfig as { functionCallingConfig: unknown }).functionCallingConfig,
      [{ mode: 'AUTO' }, { mode: 'NONE' }, { mode: 'ANY' }, { mode: 'ANY', allowedFunctionNames: ['look'] }],
    ],
    ['openai', ({ tool_choice }) => tool_choice, ['auto', 'none', 'required', { type: 'function', name: 'look' }]],
  ]
  const CHOICES: ToolChoice[] = ['auto', 'none', 'required', { name: 'look' }]
  const rows = NOTICES.flatMap(([kind, choiceIn, notices]) =>
    CHOICES.map((choice, at) => ({ kind, choice, choiceIn, told: notices[at] })),
  )

  test.each(rows)('$kind: $choice', async ({ kind, choice, choiceIn, told: notice }) => {
    const body = await sent(kind, { tools, toolChoice: choice })
    expect({ choice: choiceIn(body) }).toMatchObject({ choice: notice })
    expect(JSON.stringify(body)).toContain('"Listens"')
  })
})

describe('a wish for one call a turn', () => {
  const NOTICES: [Kind, (body: Json) => unknown, unknown][] = [
    ['compat', (body) => body.parallel_tool_calls, false],
    ['anthropic', ({ tool_choice }) => (tool_choice as Json).disable_parallel_tool_use, true],
    ['openai', (body) => body.parallel_tool_calls, false],
  ]
  test.each(NOTICES)('is told to %s, and nothing when there is none', async (kind, notifiedIn, notice) => {
    expect(notifiedIn(await sent(kind, { tools, toolChoice: 'auto', oneCallATurn: true }))).toBe(notice)
    STANDS[kind].upstream.reset()
    expect(notifiedIn(await sent(kind, { tools, toolChoice: 'auto' }))).toBeUndefined()
  })
})

const calls = [
  { id: 'call_1', name: 'look', arguments: '{"q":"a"}' },
  { id: 'call_2', name: 'listen', arguments: '{"q":"b"}' },
]
const turns = (first = calls[0]!.arguments): Message[] => [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Look and listen' },
  { role: 'assistant', content: '', toolCalls: [{ ...calls[0]!, arguments: first }, calls[1]!] },
  { role: 'tool', toolCallId: 'call_1', toolName: 'look', content: 'SEEN' },
  { role: 'tool', toolCallId: 'call_2', toolName: 'listen', content: 'HEARD' },
]

describe.each(KINDS)('%s', (kind) => {
  test('takes the calls of one turn and their results back together', async () => {
    const body = JSON.stringify(await sent(kind, { tools, messages: turns() }))
    for (const word of ['SEEN', 'HEARD', 'look', 'listen']) expect(body).toContain(word)
  })

  test.each(['{"q":', 'null', '[1]', '"a"', ''])(
    'takes arguments that were %p back, and does not fall over them',
    async (first) => {
      await sent(kind, { tools, messages: turns(first) })
    },
  )

  test('says all calls of a turn, each once, plain and streamed', async () => {
    const { driver } = STANDS[kind]
    const prompt = '[[plan:look{"q":"a"};listen{"q":"b"}]]'
    const wanted = calls.map(({ name, arguments: args }) => ({ name, arguments: JSON.parse(args) }))
    const read = ({ name, arguments: args }: { name: string; arguments: string }) => ({
      name,
      arguments: JSON.parse(args),
    })
    const whole = await plain(driver, request(prompt, { tools }))
    expect(whole.toolCalls.map(read)).toEqual(wanted)
    expect(whole.finish).toBe('tool-calls')
    const parts = await collect(streamed(driver, request(prompt, { tools })))
    expect(parts.flatMap((part) => (part.type === 'tool-call' ? [read(part)] : []))).toEqual(wanted)
    expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'tool-calls' })
  })

  test('calls with no arguments have an empty object of them', async () => {
    const { driver } = STANDS[kind]
    expect((await plain(driver, request('[[plan:look]]', { tools }))).toolCalls[0]!.arguments).toBe('{}')
  })

  test('is asked for JSON by a schema, beside tools too', async () => {
    expect(JSON.stringify(await sent(kind, { json: { schema } }))).toContain('"required":["q"]')
    await sent(kind, { json: { schema }, tools })
  })

  test('is asked for JSON without a schema', async () => {
    expect(JSON.stringify(await sent(kind, { json: true }))).toMatch(/json/i)
  })
})

test('what an upstream may keep, it is told not to', async () => {
  expect(await sent('openai', {})).toMatchObject({ store: false })
})

test('a word of the system in the middle is heard by every vendor', async () => {
  const messages: Message[] = [...turns(), { role: 'system', content: 'Answer now.' }]
  for (const kind of ['anthropic', 'google', 'openai'] as const) {
    expect(JSON.stringify(await sent(kind, { tools, messages }))).toContain('Answer now.')
  }
})
