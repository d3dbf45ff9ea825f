// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import { readFrames } from '../../support/frames'
import { createUpstreamWorld, freshPrompt } from '../upstream-world'

const { world, upstream } = await createUpstreamWorld()
const ada = await world.person()

const named = (name: string) => ({ type: 'function', function: { name } })
const tools = [named('look'), named('listen')]
const TWO_CALLS = '[[plan:look{"q":1};listen{"q":2};look{"q":3}]]'

/** Plain words before the script: an engine that had to choose the mode would be one call more. */
const order = (more: object, script = TWO_CALLS) => ({
  messages: [{ role: 'user', content: freshPrompt(`What is the capital of Peru? ${script}`) }],
  tools,
  ...more,
})
const ask = async (more: object, script?: string) =>
  (await ada.send('POST', 'chat/completions', order(more, script))).body.choices[0]
const namesIn = (calls: { function: { name: string } }[] | undefined) => calls?.map((call) => call.function.name)

const allowed = (mode: string, ...names: string[]) => ({
  tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools: names.map(named) } },
})

describe('calls that an engine makes against the tool choice', () => {
  test.each([
    ['all of them where nothing is said', {}, ['look', 'listen', 'look']],
    ['the first, when they may not come side by side', { parallel_tool_calls: false }, ['look']],
    ['all of them when they may', { parallel_tool_calls: true }, ['look', 'listen', 'look']],
    ['all of them when null is said', { parallel_tool_calls: null }, ['look', 'listen', 'look']],
    ['those of the one that was named', { tool_choice: named('listen') }, ['listen']],
    ['one of the one that was named', { tool_choice: named('look'), parallel_tool_calls: false }, ['look']],
  ])('come back as %s', async (_, choice, names) => {
    const { message, finish_reason } = await ask(choice)
    expect(namesIn(message.tool_calls)).toEqual(names)
    expect(finish_reason).toBe('tool_calls')
  })

  test.each([
    ['none may be called', { tool_choice: 'none' }],
    ['no tools were sent', { tools: undefined }],
  ])('never come back when %s', async (_, choice) => {
    const { message, finish_reason } = await ask(choice, `[[while:Let me see.]] ${TWO_CALLS}`)
    expect(message).toEqual({ role: 'assistant', content: 'Let me see.' })
    expect(finish_reason).toBe('stop')
  })

  test('come back only of tools that are allowed', async () => {
    expect(namesIn((await ask(allowed('auto', 'listen'))).message.tool_calls)).toEqual(['listen'])
  })

  test.each([
    ['any', { tool_choice: 'required' }, '[[say:no tool]]'],
    ['the named one', { tool_choice: named('listen') }, '[[plan:look{"q":1}]]'],
    ['an allowed one', allowed('required', 'listen'), '[[plan:look{"q":1}]]'],
  ])('cannot be made up: where %s must be called and is not, a warning says so', async (_, choice, script) => {
    for (const stream of [false, true]) {
      const { text, body } = await ada.send('POST', 'chat/completions', order({ ...choice, stream }, script))
      const frames = stream ? readFrames(text).map(({ data }) => data as Record<string, never>) : [body]
      expect(frames.find((frame) => frame?.svc_metadata)!.svc_metadata.warnings).toEqual([
        '"tool_choice" required a function call, but the engine called none of the requested functions.',
      ])
      expect(text).not.toContain('tool_calls')
    }
  })

  test('come one at a time in a stream, too', async () => {
    const { text } = await ada.send('POST', 'chat/completions', order({ parallel_tool_calls: false, stream: true }))
    const deltas = readFrames(text).flatMap(({ data }) => (data as { choices?: { delta: object }[] }).choices ?? [])
    const calls = deltas.flatMap(({ delta }) => (delta as { tool_calls?: never[] }).tool_calls ?? [])
    expect(namesIn(calls)).toEqual(['look'])
  })
})

describe('an engine', () => {
  test('is told that one call a turn is wanted, and only then', async () => {
    upstream.reset()
    await ask({ parallel_tool_calls: false })
    await ask({})
    await ask({ parallel_tool_calls: false, tools: undefined })
    expect(upstream.calls.map(({ body }) => body.parallel_tool_calls)).toEqual([false, undefined, undefined])
  })

  test('is offered the tools that are allowed, and no others', async () => {
    upstream.reset()
    await ask(allowed('required', 'listen'))
    const { tools: offered, tool_choice } = upstream.calls[0]!.body
    expect(namesIn(offered as never)).toEqual(['listen'])
    expect(tool_choice).toBe('required')
  })
})
