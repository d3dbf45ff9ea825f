import { describe, expect, test } from 'bun:test'
import { createRuleRunner } from '../../src/guardrails/inspection-runner'
import type { CompiledRule } from '../../src/guardrails/policy'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { guarded, onPattern, onTerms, under } from './support'

const { world, upstream } = await createUpstreamWorld()
const person = (verdict: string) => guarded(world)(onTerms('input', verdict, ['zeppelin']))
const schema = (members: object) => ({ type: 'object', properties: { place: { type: 'string', ...members } } })
const native = (tool: object = {}) => ({
  prompt: freshPrompt(),
  mode: 'fast',
  tools: [{ name: 'look_up', description: 'Looks it up', ...tool }],
})
const chat = (tool: object = {}) => ({
  model: 'svc-1-flash',
  messages: [{ role: 'user', content: freshPrompt() }],
  tools: [{ type: 'function', function: { name: 'look_up', description: 'Looks it up', ...tool } }],
})
const SENT: [string, (words: { tool?: object; schema?: object }) => object][] = [
  ['completions', (words) => native({ ...words.tool, ...(words.schema ? { input_schema: words.schema } : {}) })],
  ['chat/completions', (words) => chat({ ...words.tool, ...(words.schema ? { parameters: words.schema } : {}) })],
]

/** Names and values, which cannot be redacted: they would mean something else. */
const FIXED: [string, { tool?: object; schema?: object }][] = [
  ['a name', { tool: { name: 'zeppelin' } }],
  ['a value to choose from', { schema: schema({ enum: ['balloon', 'the zeppelin'] }) }],
  ['a default', { schema: schema({ default: 'a zeppelin' }) }],
  ['an example', { schema: schema({ examples: [{ ship: 'a zeppelin' }] }) }],
  ['the name of a property', { schema: { type: 'object', properties: { zeppelin: { type: 'string' } } } }],
]
const PROSE: [string, { tool?: object; schema?: object }][] = [
  ['a description', { tool: { description: 'Asks the zeppelin' } }],
  ['a description inside', { schema: schema({ description: 'Where the zeppelin is' }) }],
  ['a title', { schema: { ...schema({}), title: 'The zeppelin' } }],
]

describe.each(SENT)('tools that come with %s', (path, bodyOf) => {
  test.each([...FIXED, ...PROSE])('are no way around a rule that blocks: %s', async (_, words) => {
    const ada = await person('block')
    const calls = upstream.calls.length
    const { status, body } = await ada.send('POST', path, bodyOf(words))
    expect(status).toBe(400)
    expect(body.error).toMatchObject({ code: 'guardrail_blocked', param: 'tools' })
    expect(upstream.calls).toHaveLength(calls)
  })

  test.each(PROSE)('are redacted in %s', async (_, words) => {
    const { status, text } = await (await person('redact')).send('POST', path, bodyOf(words))
    const sent = JSON.stringify(upstream.calls.at(-1)!.body)
    expect({ status, hasZeppelin: sent.includes('zeppelin') }).toEqual({ status: 200, hasZeppelin: false })
    expect(sent).toContain('[REDACTED:blocked_term]')
    expect(text).toContain('"detail":"tools: ')
  })

  test.each(FIXED)('are refused when a rule would redact %s', async (_, words) => {
    const { status, body } = await (await person('redact')).send('POST', path, bodyOf(words))
    expect({ status, ...body.error }).toMatchObject({ status: 400, code: 'guardrail_blocked', param: 'tools' })
    expect(body.error.details[0].message).toContain('nothing can be taken')
  })

  test('are unchanged when no rule fires, and when one only flags', async () => {
    const described = { schema: schema({ description: 'Where it is', enum: ['air', 'sea'] }) }
    expect((await (await person('redact')).send('POST', path, bodyOf(described))).status).toBe(200)
    const flagged = await (await person('flag')).send('POST', path, bodyOf(FIXED[1]![1]))
    expect(flagged.status).toBe(200)
    expect(JSON.stringify(upstream.calls.at(-1)!.body)).toContain('the zeppelin')
    expect(flagged.text).toContain('"verdict":"flag"')
  })

  test('are redacted in the description of a property that is called description', async () => {
    const named = { schema: { type: 'object', properties: { description: { description: 'Of the zeppelin' } } } }
    expect((await (await person('redact')).send('POST', path, bodyOf(named))).status).toBe(200)
    expect(JSON.stringify(upstream.calls.at(-1)!.body)).toContain('Of the [REDACTED:blocked_term]')
  })
})

describe.each(SENT)('numbers in tools that come with %s', (path, bodyOf) => {
  const answered = async (pattern: string, members: object) => {
    const ada = await world.person()
    await under(ada, [onPattern('input', 'block', pattern)])
    return (await ada.send('POST', path, bodyOf({ schema: schema(members) }))).status
  }

  test.each([
    ['a number to choose from', { enum: [7, 4_111_111_111_111_111] }],
    ['a default', { default: 4_111_111_111_111_111 }],
    ['a negative one', { const: -4_111_111_111_111_111 }],
    ['an example', { examples: [{ card: { number: 4_111_111_111_111_111 } }] }],
    ['a bound', { minimum: 4_111_111_111_111_111 }],
  ])('are no way around a rule when they are long: %s', async (_what, members) => {
    expect(await answered('4111111111111111', members)).toBe(400)
  })

  test('are read from seven digits on', async () => {
    expect(await answered('^1000000$', { enum: [1_000_000] })).toBe(400)
    expect(await answered('^999999$', { enum: [999_999] })).toBe(200)
  })
})

test('a list of texts that was clean before is not checked again', async () => {
  let requested = 0
  const inspect = () => {
    requested++
    return null
  }
  const rule = { guardrail_id: 'blocked_terms', phase: 'input', verdict: 'block', config: {}, inspect } as CompiledRule
  const about = { set: { key: 'a', rules: [rule] }, about: { phase: 'input' as const }, who: 'user:ada' as never }
  const runner = createRuleRunner()
  const texts = Array.from({ length: 300 }, (_, at) => `what tool ${at} is for`)
  const all = { ...about, signal: new AbortController().signal }
  await runner.recurringTexts(all, texts)
  expect(
    (await runner.recurringTexts(all, texts)).every(({ text, firings }, at) => text === texts[at] && !firings.length),
  ).toBe(true)
  expect(requested).toBe(300)
})
