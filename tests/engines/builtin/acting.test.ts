import { describe, expect, test } from 'bun:test'
import type { EngineTool, JsonSchema, Message, ToolChoice } from '../../../src/engines/engine'
import { fence } from '../../../src/kernel/fence'
import { collect, plain, request, streamed } from '../../suites/engine.suite'
import { effortOf } from '../../support/effort'
import { ask, builtin } from './ask'

const text = { type: 'string' }
const number = { type: 'number' }
const tool = (name: string, description: string, properties: JsonSchema, required?: string[]): EngineTool => ({
  name,
  description,
  parameters: { type: 'object', properties, ...(required ? { required } : {}) },
})

const UNITS = { enum: ['celsius', 'fahrenheit'] }
const DAY = { type: 'string', format: 'date' }
const TOOLS = [
  tool('get_weather', 'Gets the weather for a location.', { location: text, unit: UNITS }, ['location']),
  tool('web_search', 'Searches the web and gives titles and addresses.', { query: text, count: number }, ['query']),
  tool('web_fetch', 'Reads a page of the web at an address.', { url: { ...text, minLength: 8 } }, ['url']),
  tool('code_execute', 'Runs JavaScript in a sandbox.', { code: text }, ['code']),
  tool('save_memory', 'Remembers a fact about the user.', { content: text }, ['content']),
  tool('add', 'Adds two numbers.', { a: number, b: number }, ['a', 'b']),
  tool('getOrderStatus', 'Status of an order.', { order_id: text }, ['order_id']),
  tool('send_email', 'Sends an e-mail.', { to: { ...text, format: 'email' }, subject: text, body: text }, [
    'to',
    'body',
  ]),
  tool('book_flight', 'Books a flight.', { from: text, to: text, date: DAY, passengers: { type: 'integer' } }, [
    'date',
  ]),
  tool('look_up', 'Looks up a topic in the library.', { topic: text }, ['topic']),
  tool('temp', 'Current temperature of a city', { city: text }, ['city']),
  tool('create_reminder', '', { text, due: DAY, urgent: { type: 'boolean' } }, ['text']),
  tool('add_items', 'Adds items to a list.', { items: { type: 'array', items: text } }, ['items']),
]

type Called = [string, Record<string, unknown>]

async function callsOf(prompt: string, tools = TOOLS, toolChoice?: ToolChoice): Promise<Called[]> {
  const choice = toolChoice === undefined ? {} : { toolChoice }
  const { toolCalls, text, finish } = await plain(builtin, request(prompt, { tools, ...choice }))
  expect(finish).toBe(toolCalls.length ? 'tool-calls' : 'stop')
  expect(text === '').toBe(toolCalls.length > 0)
  return toolCalls.map(({ name, arguments: args }) => [name, JSON.parse(args)])
}

const CALLED: [string, ...Called[]][] = [
  ["What's the weather in Paris?", ['get_weather', { location: 'Paris' }]],
  ['What is the weather in New York in celsius today?', ['get_weather', { location: 'New York', unit: 'celsius' }]],
  ['weather in Rio de Janeiro?', ['get_weather', { location: 'Rio de Janeiro' }]],
  [
    'Can you show me the weather in Oslo, Bergen and Rome?',
    ...['Oslo', 'Bergen', 'Rome'].map((location): Called => ['get_weather', { location }]),
  ],
  ['Search the web for the latest Bun release', ['web_search', { query: 'latest Bun release' }]],
  ['Look up tides', ['look_up', { topic: 'tides' }]],
  ['Look up tides and look up winds.', ['look_up', { topic: 'tides' }], ['look_up', { topic: 'winds' }]],
  ['please fetch https://example.com/a?b=1', ['web_fetch', { url: 'https://example.com/a?b=1' }]],
  ['Run this code:\n```js\n1 + 1\n```', ['code_execute', { code: '1 + 1' }]],
  ['Execute this code: `2 ** 8`', ['code_execute', { code: '2 ** 8' }]],
  ['Remember that I like tea', ['save_memory', { content: 'I like tea' }]],
  ['Add 2 and 3', ['add', { a: 2, b: 3 }]],
  ['add seven and -1.5', ['add', { a: -1.5, b: 7 }]],
  ['What is the status of order A-1234?', ['getOrderStatus', { order_id: 'A-1234' }]],
  [
    'Send an e-mail to bob@example.org with the subject "Hi", saying see you tomorrow',
    ['send_email', { to: 'bob@example.org', subject: 'Hi', body: 'see you tomorrow' }],
  ],
  [
    'Book a flight from Oslo to Rome on 1 May 2026 for 2 passengers',
    ['book_flight', { from: 'Oslo', to: 'Rome', date: '2026-05-01', passengers: 2 }],
  ],
  ['Book a flight from Oslo to Rome tomorrow', ['book_flight', { from: 'Oslo', to: 'Rome', date: '2026-03-05' }]],
  ['What is the temperature in Berlin?', ['temp', { city: 'Berlin' }]],
  ['use temp for Madrid', ['temp', { city: 'Madrid' }]],
  ['use temp for the city Paris', ['temp', { city: 'Paris' }]],
  ['use temp with city Paris', ['temp', { city: 'Paris' }]],
  ['What is the temperature in the city of rome?', ['temp', { city: 'rome' }]],
  ['Look up the topic tides', ['look_up', { topic: 'tides' }]],
  ['Create an urgent reminder: pay the rent', ['create_reminder', { text: 'pay the rent', urgent: true }]],
  ['add items: milk, eggs and bread', ['add_items', { items: ['milk', 'eggs', 'bread'] }]],
]

test.each(CALLED)('%p calls what it clearly asks for', async (prompt, ...calls) => {
  expect(await callsOf(prompt)).toEqual(calls)
})

test.each([
  'What is the capital of France?',
  'Hello',
  'What is 12 * 7?',
  'What day is it today?',
  'Is it going to rain?',
  'What is the weather?',
  'The weather is nice in Paris',
  'Write a haiku about the weather',
  'Write a function that fetches a URL',
  'Explain this code:\n```js\n1 + 1\n```',
  'Explain how orders work',
  'What did I order?',
  'Tell me about books',
  'Add salt',
  'Extract the e-mail addresses from: a@example.com',
  'Summarise: The weather was nice. It rained in Paris. Nobody saw it.',
  `The weather in Paris. ${'Rain fell on the roofs, and nobody went out. '.repeat(20)} What was the weather in Paris?`,
  'search',
  '',
])('%p calls nothing', async (prompt) => {
  expect(await callsOf(prompt)).toEqual([])
})

describe('a choice of tools', () => {
  const weather = "What's the weather in Paris?"

  test('of none is kept', async () => {
    expect(await callsOf(weather, TOOLS, 'none')).toEqual([])
  })

  test('that demands one gets one, with the emptiest of what is not said', async () => {
    expect(await callsOf('Hello', TOOLS.slice(0, 2), 'required')).toEqual([['get_weather', { location: '' }]])
    expect(await callsOf(weather, TOOLS, 'required')).toEqual([['get_weather', { location: 'Paris' }]])
  })

  test('that names one gets that one', async () => {
    expect(await callsOf('Look up Paris', TOOLS, { name: 'temp' })).toEqual([['temp', { city: 'Paris' }]])
  })

  test('between two that are asked for alike is not made', async () => {
    const twins = [1, 2].map((number) => tool(`weather_${number}`, 'Weather.', { city: text }, ['city']))
    expect(await callsOf(weather, twins)).toEqual([])
  })
})

const after = (prompt: string, ...results: [string, string][]): Message[] => [
  { role: 'user', content: prompt },
  {
    role: 'assistant',
    content: '',
    toolCalls: results.map(([name], place) => ({ id: `c${place}`, name, arguments: '{}' })),
  },
  ...results.map(
    ([toolName, content], place): Message => ({ role: 'tool', toolCallId: `c${place}`, toolName, content }),
  ),
]

describe('what tools found', () => {
  const answered = (messages: Message[], more: object = {}) => ask('', { messages, tools: TOOLS, ...more })

  test.each([
    ['18 °C and sunny', 'From get_weather: "18 °C and sunny"'],
    ['{"temp":18,"sky":{"clouds":false}}', 'From get_weather:\ntemp: 18\nsky clouds: false'],
    ['["a","b"]', 'From get_weather:\n1: a\n2: b'],
    ['', 'get_weather found nothing.'],
    ['Error: The station is closed.', 'get_weather did not succeed: The station is closed.'],
    ['{"acknowledged":true}', 'get_weather was called; what comes of it is for your application to say.'],
  ])('%p is quoted', async (found, answer) => {
    expect(await answered(after('Weather in Paris?', ['get_weather', found]))).toBe(answer)
  })

  test('is read without its fence, and without what was added after it', async () => {
    const found = `${fence('web_fetch', 'Sunny.')}\n\nNo more tools can be called.`
    expect(await answered(after('Fetch https://example.com', ['web_fetch', found]))).toBe('From web_fetch: "Sunny."')
  })

  test('in several calls is quoted one by one', async () => {
    const messages = after('Weather in Oslo and Rome?', ['get_weather', 'Snow.'], ['get_weather', 'Sun.'])
    expect(await answered(messages)).toBe('From get_weather: "Snow."\n\nFrom get_weather: "Sun."')
  })

  test('at length is quoted where it speaks of the question', async () => {
    const found = `${'Nothing of note happened here. '.repeat(200)}The tide turned at noon. ${'Gulls cried. '.repeat(100)}`
    const answer = await answered(after('Look up when the tide turned', ['look_up', found]))
    expect(answer).toContain('- The tide turned at noon.')
    expect(answer.length).toBeLessThan(600)
  })

  test('fills the form that is asked for', async () => {
    const json = {
      type: 'object',
      properties: { temp: number, city: { type: ['string', 'null'] } },
      required: ['city'],
    }
    const messages = after('Weather in Paris?', ['get_weather', '{"temp":18}'])
    expect(JSON.parse(await answered(messages, { json: { schema: json } }))).toEqual({ temp: 18, city: null })
  })

  test('of an earlier question is not taken for an answer to this one', async () => {
    const messages: Message[] = [...after('Weather?', ['get_weather', 'Snow.']), { role: 'user', content: '2+2' }]
    expect(await answered(messages)).toBe('2+2 = 4')
  })
})

test('a stream ends with its calls', async () => {
  expect(await collect(streamed(builtin, request('Look up tides', { tools: TOOLS })))).toEqual([
    { type: 'tool-call', id: 'call_1', name: 'look_up', arguments: '{"topic":"tides"}' },
    { type: 'finish', reason: 'tool-calls' },
  ])
})

test('a hundred tools of forty arguments hold nobody up', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`prop${at}_${['id', 'date', 'city', 'name', 'flag'][at % 5]}`, text]),
  )
  const many = Array.from({ length: 128 }, (_, at) =>
    tool(`thing_${at}`, 'The word of a thing.', properties, ['prop1_date']),
  )
  const effort = await effortOf(async () => {
    for (const piece of ['in A ', 'word ', '"', '12 ', 'a: b ', 'order #1 ', 'In Paris and Rome, ']) {
      await callsOf(`Get the thing "${piece.repeat(1_600).slice(0, 7_900)}"`, many)
      await callsOf(`Get the thing ${piece.repeat(60)}`.slice(0, 300), many)
    }
  }, 2)
  expect(effort).toBeLessThan(3_000)
})
