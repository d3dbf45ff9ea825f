// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { listen } from '../../support/listening'
import { createWorld, type World } from '../../support/world'
import { createUpstreamWorld, freshPrompt } from '../upstream-world'

async function clientOf(world: World): Promise<OpenAI> {
  const { key } = await world.person()
  return new OpenAI({ baseURL: listen(world).baseUrl, apiKey: key, maxRetries: 0 })
}

const { world, upstream } = await createUpstreamWorld()
const PLAN = '[[plan:get_weather{"location":"Oslo"};get_weather{"location":"Rome"}]]'

/** The same conversation with an engine that follows a script, and with the one that is built in. */
const ENGINES = {
  scripted: { client: await clientOf(world), prompt: `${PLAN} [[say:Oslo: Snow. Rome: Sun.]]` },
  'built-in': { client: await clientOf(await createWorld()), prompt: 'What is the weather in Oslo and Rome?' },
}

const SKY: Record<string, string> = { Oslo: 'Snow.', Rome: 'Sun.' }

function weather() {
  const requests: string[] = []
  const tool = {
    type: 'function' as const,
    function: {
      name: 'get_weather',
      description: 'Gets the weather for a location.',
      parameters: { type: 'object', required: ['location'], properties: { location: { type: 'string' } } },
      parse: JSON.parse as (input: string) => { location: string },
      function: ({ location }: { location: string }) => {
        requests.push(location)
        return SKY[location] ?? 'Nobody knows.'
      },
    },
  }
  return { asked: requests, tool }
}

const BARE = [
  {
    type: 'function' as const,
    function: {
      name: 'get_weather',
      description: 'Gets the weather for a location.',
      parameters: weather().tool.function.parameters,
    },
  },
]

const order = (prompt: string) => ({
  model: 'svc-1-flash',
  messages: [{ role: 'user' as const, content: freshPrompt(prompt) }],
})

describe.each(Object.entries(ENGINES))('the openai package, over the %s engine', (_, { client, prompt }) => {
  test('runs tools', async () => {
    const { asked: requests, tool } = weather()
    const runner = client.chat.completions.runTools({ ...order(prompt), tools: [tool] })
    const content = await runner.finalContent()
    expect(requests.toSorted()).toEqual(['Oslo', 'Rome'])
    expect(content).toContain('Snow.')
    expect(content).toContain('Sun.')
    expect(runner.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant'])
    expect((await runner.totalUsage()).total_tokens).toBeGreaterThan(0)
  })

  test('runs tools over streams', async () => {
    const { asked: requests, tool } = weather()
    const runner = client.chat.completions.runTools({ ...order(prompt), tools: [tool], stream: true })
    let text = ''
    runner.on('content', (delta) => {
      text += delta
    })
    const content = await runner.finalContent()
    expect(requests.toSorted()).toEqual(['Oslo', 'Rome'])
    expect(content).toContain('Snow.')
    expect(text).toBe(content!)
  })

  test('gets a call it can run itself, plain', async () => {
    const { choices, svc_metadata } = (await client.chat.completions.create({
      ...order(prompt),
      tools: BARE,
    })) as OpenAI.ChatCompletion & { svc_metadata: { tools_used: unknown[] } }
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          { type: 'function', function: { name: 'get_weather', arguments: '{"location":"Oslo"}' } },
          { type: 'function', function: { name: 'get_weather', arguments: '{"location":"Rome"}' } },
        ],
      },
    })
    expect(svc_metadata.tools_used).toEqual([])
  })

  test('gets the same call in pieces', async () => {
    const stream = await client.chat.completions.create({ ...order(prompt), tools: BARE, stream: true })
    const chunks = await Array.fromAsync(stream)
    const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
    expect(calls.map(({ index }) => index)).toEqual([0, 1])
    for (const { id } of calls) expect(id).toMatch(/^call_/)
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason).filter(Boolean)).toEqual(['tool_calls'])
    expect(chunks.find(({ choices }) => choices[0]?.delta.tool_calls)!.choices[0]!.finish_reason).toBeNull()
  })

  test('makes it call one by name, and none', async () => {
    const named = { type: 'function' as const, function: { name: 'get_weather' } }
    const forced = await client.chat.completions.create({
      ...order(`${prompt} [[tool:get_weather]]`),
      tools: BARE,
      tool_choice: named,
    })
    expect(forced.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: [{}] } })
    const none = await client.chat.completions.create({ ...order('Say hello'), tools: BARE, tool_choice: 'none' })
    expect(none.choices[0]!.finish_reason).toBe('stop')
    expect(none.choices[0]!.message).not.toHaveProperty('tool_calls')
  })
})

const person = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'age'],
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
}
const response_format = { type: 'json_schema' as const, json_schema: { name: 'person', strict: true, schema: person } }

describe('the openai package, with a response format', () => {
  const { client } = ENGINES['built-in']
  const scripted = ENGINES.scripted.client

  test('parses what fits the schema', async () => {
    const notice = await client.chat.completions.parse({ ...order('Name: Ada\nAge: 36'), response_format })
    expect(notice.choices[0]!.message.parsed).toEqual({ name: 'Ada', age: 36 })
    const message = await scripted.chat.completions.parse({
      ...order('[[say:{"name":"Ada","age":36}]]'),
      response_format,
    })
    expect(message.choices[0]!.message).toMatchObject({ parsed: { name: 'Ada', age: 36 } })
    expect(upstream.calls.at(-1)!.body.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { schema: person },
    })
  })

  test('parses a stream of it', async () => {
    const stream = client.chat.completions.stream({ ...order('Name: Ada\nAge: 36'), response_format })
    expect((await stream.finalChatCompletion()).choices[0]!.message.parsed).toEqual({ name: 'Ada', age: 36 })
  })

  test('is refused what does not fit, plain and streamed', async () => {
    const prompt = '[[say:{"name":"Ada"}]]'
    const { choices } = await scripted.chat.completions.parse({ ...order(prompt), response_format })
    expect(choices[0]!.message).toMatchObject({ content: null, parsed: null })
    expect(choices[0]!.message.refusal).toBe(
      'The answer does not fit the response format: it must have "age" (required).',
    )
    const stream = await scripted.chat.completions.create({ ...order(prompt), response_format, stream: true })
    const refusals = (await Array.fromAsync(stream)).map(({ choices }) => choices[0]?.delta.refusal).filter(Boolean)
    expect(refusals.join('')).toContain('does not fit the response format')
  })

  test('gets what fits a schema that json_object carries, as clients of other services send it', async () => {
    const schema = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] }
    const ask = async (prompt: string) => {
      const response_format = { type: 'json_object' as const, schema }
      const { choices } = await scripted.chat.completions.create({ ...order(prompt), response_format })
      return choices[0]!.message
    }
    expect(JSON.parse((await ask('[[say:{"age":36}]]')).content!)).toEqual({ age: 36 })
    expect((await ask('[[say:{"name":"Ada"}]]')).refusal).toContain('it must have "age" (required)')
  })

  test('gets any object by json_object', async () => {
    const { choices } = await scripted.chat.completions.create({
      ...order('[[say:{"ok":true}]]'),
      response_format: { type: 'json_object' },
    })
    expect(JSON.parse(choices[0]!.message.content!)).toEqual({ ok: true })
  })
})
