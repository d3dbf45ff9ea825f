import { beforeEach, describe, expect, test } from 'bun:test'
import { slowness } from '../support/effort'
import { readFrames } from '../support/frames'
import { startTarget } from './support'
import { startCanary } from './support/canary'
import { hasNotBlocked, tooLong } from './support/oracle'

const target = await startTarget()
const canary = await startCanary()

let requested = 0
type Tool = { name: string; description?: string; input_schema?: object; endpoint?: object }
const post = (script: string, tools: Tool[], more: object = {}) =>
  target.send('POST', 'completions', {
    body: {
      prompt: `${script} ${++requested}`,
      mode: 'fast',
      conversation_id: null,
      tools: tools.map((tool) => ({ description: 'A tool.', ...tool })),
      ...more,
    },
  })

beforeEach(() => target.upstream.reset())

describe('definitions of tools', () => {
  test('B31 with an address outside: 400, streamed or not, and no engine is asked (P2)', async () => {
    const input_schema = { $ref: `http://127.0.0.1:${canary.port}/s` }
    for (const stream of [false, true]) {
      const { status, body } = await post('hi', [{ name: 'mine', input_schema }], { stream })
      expect(status).toBe(400)
      expect(body.error.code).toBe('validation_error')
      expect(body.error.param).toStartWith('tools[0].input_schema')
    }
    expect(target.upstream.calls).toHaveLength(0)
    expect(canary.connections()).toBe(0)
  })

  test('B31 an exploding pattern does not slow other requests', async () => {
    const input_schema = { type: 'object', properties: { a: { pattern: '^(a|a)*b$' } } }
    const { status, body } = await post(`[[plan:mine{"a":"${'a'.repeat(5_000)}"}]]`, [{ name: 'mine', input_schema }])
    expect(status).toBe(200)
    expect(body.tools_used[0]).toMatchObject({ status: 'error', description: 'bad arguments' })
    await hasNotBlocked(target)
  })
})

/** Those of endpoints, and their headers (docs/attacks.md J2), are in tests/tools/endpoint. */
describe('addresses of tools (J)', () => {
  test('web_fetch reaches nothing inside, whatever an engine asks of it', async () => {
    const urls = [
      `http://127.0.0.1:${canary.port}/`,
      `http://localhost:${canary.port}/`,
      'http://169.254.169.254/',
      'file:///etc/passwd',
    ]
    const plan = urls.map((url) => `web_fetch{"url":"${url}"}`).join(';')
    const { body } = await post(`[[plan:${plan}]]`, [{ name: 'mine' }])
    expect(body.tools_used).toHaveLength(urls.length)
    for (const use of body.tools_used) expect(use).toMatchObject({ status: 'error', result: null })
    expect(canary.connections()).toBe(0)
  })
})

describe('runs with tools', () => {
  test('L10 an engine that always calls a tool is stopped, within what was held', async () => {
    const before = await target.moneyOf(target.people.emailOf('k1'))
    expect((await post('[[plan:mine{}]] [[always]]', [{ name: 'mine' }], { max_iterations: 20 })).status).toBe(200)
    expect(target.upstream.calls.length).toBeLessThanOrEqual(21)
    const after = await target.moneyOf(target.people.emailOf('k1'))
    expect(after.held).toBe(0)
    expect(after.balance).toBeLessThanOrEqual(before.balance)
  })

  test('L10 a storm of calls in one turn is bounded', async () => {
    const storm = Array.from({ length: 200 }, () => 'mine{}').join(';')
    const { status, body } = await post(`[[plan:${storm}]]`, [{ name: 'mine' }])
    expect(status).toBe(200)
    expect(body.tools_used.filter((use: { status: string }) => use.status === 'success').length).toBeLessThanOrEqual(64)
  })

  test('L11 an engine cannot call what it was not offered', async () => {
    const { body } = await post('[[plan:browser_act{"action":"x"};no_such_tool{}]]', [{ name: 'mine' }])
    for (const use of body.tools_used) expect(use).toMatchObject({ status: 'error', description: 'unknown tool' })
  })

  test('L14 code cannot access the host', async () => {
    const code = 'typeof process + typeof require + (function(){}).constructor(\\"return typeof Bun\\")()'
    const { body } = await post(`[[plan:code_execute{"code":"${code}"}]]`, [{ name: 'mine' }])
    expect(body.tools_used[0].result.value).toBe('undefinedundefinedundefined')
    expect((await target.send('GET', 'health', { as: null })).status).toBe(200)
  })

  test('P8 what a tool is given and gives is one line of JSON in a stream', async () => {
    const args = JSON.stringify({ a: '\n\nevent: done\ndata: {}\n\n', b: '\u2028\r' })
    const frames = readFrames((await post(`[[plan:mine${args}]]`, [{ name: 'mine' }], { stream: true })).text)
    const uses = frames.filter(({ event }) => event === 'tool')
    expect(uses.map(({ data }) => data.status)).toEqual(['running', 'success'])
    expect(frames.filter(({ event }) => event === 'done')).toHaveLength(1)
  })
})

describe('I28 slow tools of one owner do not delay another', () => {
  const properties = (count: number, part: (at: number) => object) => ({
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, part(at)])),
  })
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `d${at}`,
      at === 39 ? {} : { allOf: [0, 1].map(() => ({ $ref: `#/$defs/d${at + 1}` })) },
    ]),
  )
  test.each<[string, Tool[], string]>([
    [
      '64 large schemas',
      Array.from({ length: 64 }, (_, at) => ({
        name: `t${at}`,
        input_schema: properties(100, () => ({ type: 'string', maxLength: at })),
      })),
      't0{}',
    ],
    [
      'the largest schema that is allowed',
      [{ name: 't0', input_schema: properties(190, (at) => ({ type: 'string', maxLength: at })) }],
      't0{"p1":"x"}',
    ],
    [
      'patterns as large as they may be',
      Array.from({ length: 64 }, (_, at) => ({
        name: `t${at}`,
        input_schema: properties(100, (part) => ({ pattern: `^a{900}${at}b${part}$` })),
      })),
      't0{}',
    ],
    ['a schema that doubles', [{ name: 't0', input_schema: { $ref: '#/$defs/d0', $defs: doubling } }], 't0{"a":1}'],
    [
      'a long list of unique entries',
      [{ name: 't0', input_schema: properties(1, () => ({ uniqueItems: true })) }],
      `t0{"p0":[${Array.from({ length: 9_000 }, (_, at) => at)}]}`,
    ],
    ['a loop without end', [{ name: 't0' }], 'code_execute{"code":"for (;;) {}"}'],
  ])(
    '%s',
    async (_, tools, plan) => {
      expect((await post(`[[plan:${plan}]]`, tools)).status).toBeOneOf([200, 400])
    },
    30_000,
  )

  test('and the event loop never stood still', async () => {
    expect(tooLong(target.blocks(), await slowness())).toEqual([])
  })
})
