import { describe, expect, test } from 'bun:test'
import { createWorld } from '../support/world'

const ada = await (await createWorld()).person()

const ask = async (prompt: string, more: object = {}) =>
  (await ada.send('POST', 'completions', { prompt, conversation_id: null, ...more })).body

const weather = {
  name: 'get_weather',
  description: 'Gets the weather for a location.',
  input_schema: { type: 'object', required: ['location'], properties: { location: { type: 'string' } } },
}

describe('without a language model', () => {
  test('a tool of the request is called where it is asked for', async () => {
    const { content, tools_used, usage } = await ask("What's the weather in Paris?", { mode: 'fast', tools: [weather] })
    expect(tools_used).toEqual([
      {
        name: 'get_weather',
        status: 'success',
        description: 'done',
        arguments: { location: 'Paris' },
        result: { acknowledged: true },
      },
    ])
    expect(content).toContain('get_weather was called')
    expect(usage.cost_cents).toBe(0)
  })

  test('a program is run by the tool of this server', async () => {
    const { content, tools_used } = await ask('Run this program:\n```js\n[3, 1, 2].sort().join("-")\n```', {
      mode: 'code',
    })
    expect(tools_used).toMatchObject([{ name: 'code_execute', status: 'success', result: { value: '1-2-3' } }])
    expect(content).toContain('value: 1-2-3')
  })

  test('a failing program is reported with its error', async () => {
    const { content, tools_used } = await ask('Execute this code: `null.x`', { mode: 'think' })
    expect(tools_used).toMatchObject([{ name: 'code_execute', status: 'error' }])
    expect(content).toContain('code_execute did not succeed')
  })

  test.each([
    ['What is 12 * 7 + 3?', '12 * 7 + 3 = 87'],
    ['What is the capital of France?', 'No language model is connected'],
    ['Write a function that reverses a string in TypeScript', 'function reverse'],
  ])('%p is answered without any tool', async (prompt, answer) => {
    for (const mode of ['think', 'code']) {
      const { content, tools_used } = await ask(prompt, { mode, tools: [weather] })
      expect(tools_used).toEqual([])
      if (mode === 'code' || !prompt.startsWith('Write')) expect(content).toContain(answer)
    }
  })
})
