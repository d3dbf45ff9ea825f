import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld } from '../completions/upstream-world'
import { readFrames } from '../support/frames'
import { guarded, onKind, onPattern, onTerms } from './support'

const { world, upstream } = await createUpstreamWorld()

const person = guarded(world)
const note = { name: 'note', description: 'Notes something', input_schema: { type: 'object' } }
const wipe = { name: 'wipe', description: 'Wipes something', input_schema: { type: 'object' } }
const asks = (plan: string, more: object = {}) => ({
  prompt: `Do it [[plan:${plan}]] [[say:Done.]]`,
  mode: 'fast',
  tools: [note, wipe],
  ...more,
})
/** The tool results that the engine was sent last. */
const read = (): string[] =>
  (upstream.calls.at(-1)!.body.messages as { role: string; content: string }[])
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => content)

describe('the tool_call phase (docs/api.md 12)', () => {
  test('a blocked call fails, the loop goes on, and its arguments are not shown', async () => {
    const ada = await person(onPattern('tool_call', 'block', 'kraken', { message: 'Not that one.' }))
    const { status, body, text } = await ada.send('POST', 'completions', asks('note{"text":"the kraken"}'))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      content: 'Done.',
      tools_used: [
        { name: 'note', status: 'error', description: 'blocked by a guardrail', arguments: {}, result: null },
      ],
      guardrails: [{ guardrail_id: 'regex_match', phase: 'tool_call', verdict: 'block' }],
    })
    expect(text).not.toContain('kraken')
    expect(read()).toEqual([expect.stringContaining('Not that one.')])
  })

  test('tools that are not on the allow list do not run; the others of the turn do', async () => {
    const ada = await person(onKind('tool_allowlist', 'tool_call', 'block', { tools: ['note'] }))
    const { body } = await ada.send('POST', 'completions', asks('note{};wipe{}'))
    expect(body.tools_used.map(({ name, status }: { name: string; status: string }) => [name, status])).toEqual([
      ['note', 'success'],
      ['wipe', 'error'],
    ])
    expect(body.guardrails).toMatchObject([{ detail: expect.stringMatching(/^wipe: /) }])
  })

  test('the tool, the answer and the stream get redacted arguments', async () => {
    const ada = await person(onPattern('tool_call', 'redact', 'kra[k]en'))
    const input = asks('note{"text":"the kraken","more":{"what":"kraken","count":7}}')
    const expected = { text: 'the [REDACTED:regex_match]', more: { what: '[REDACTED:regex_match]', count: 7 } }
    const { body } = await ada.send('POST', 'completions', input)
    expect(body.tools_used).toMatchObject([{ status: 'success', arguments: expected }])
    const { text } = await ada.send('POST', 'completions', { ...input, stream: true }, { 'cache-control': 'no-cache' })
    const tools = readFrames(text).filter(({ event }) => event === 'tool')
    expect(tools.map(({ data }) => [data.status, data.arguments])).toEqual([
      ['running', expected],
      ['success', expected],
    ])
  })

  test('escapes in JSON hide nothing', async () => {
    const ada = await person(onPattern('tool_call', 'block', 'kraken'))
    const { body } = await ada.send('POST', 'completions', asks('note{"text":"\\u006b\\u0072aken"}'))
    expect(body.tools_used[0].status).toBe('error')
  })

  test("calls of a chat client's own functions are checked, too", async () => {
    const tools = [{ type: 'function', function: { name: 'note', parameters: { type: 'object' } } }]
    const order = (plan: string) => ({ messages: [{ role: 'user', content: `Do it [[plan:${plan}]]` }], tools })
    const ada = await person(
      onPattern('tool_call', 'redact', 'kra[k]en'),
      onPattern('tool_call', 'block', 'leviathan', { message: 'Not that one.' }),
    )
    const redacted = await ada.send('POST', 'chat/completions', order('note{"text":"the kraken"}'))
    const [call] = redacted.body.choices[0].message.tool_calls
    expect(JSON.parse(call.function.arguments)).toEqual({ text: 'the [REDACTED:regex_match]' })
    const blocked = await ada.send('POST', 'chat/completions', order('note{"text":"leviathan"}'))
    expect(blocked.body.choices[0]).toMatchObject({
      finish_reason: 'content_filter',
      message: { content: 'Not that one.' },
    })
    expect(blocked.text).not.toContain('leviathan')
  })
})

describe("a tool's name that matches a rule", () => {
  const named = 'zoe@secret-host.example'
  const shown = async (verdict: string, more: object = {}) => {
    const ada = await person(onKind('pii', 'tool_call', verdict))
    const { body, text } = await ada.send('POST', 'completions', asks(`${named}{"a":1};note{}`, more))
    const { text: audit } = await ada.send('GET', 'audit')
    return { body, notify: `${text} ${audit}` }
  }

  test.each([
    ['redact', '[REDACTED:email]'],
    ['block', '[REDACTED:pii]'],
  ])('is shown nowhere under %s', async (verdict, name) => {
    const { body, notify: notice } = await shown(verdict)
    expect(body.tools_used.map((used: { name: string }) => used.name)).toEqual([name, 'note'])
    expect(body.guardrails).toMatchObject([{ detail: expect.stringMatching(/^a tool that is named/) }])
    expect(notice).toContain(name)
    expect(notice).not.toContain('secret-host')
  })

  test('is not shown in a stream', async () => {
    const { notify: notice } = await shown('redact', { stream: true })
    expect(notice).toContain('[REDACTED:email]')
    expect(notice).not.toContain('secret-host')
  })

  test('is left in place by a flag, which does not quote it', async () => {
    const { body } = await shown('flag')
    expect(body.tools_used[0].name).toBe(named)
    expect(JSON.stringify(body.guardrails)).not.toContain('secret-host')
  })

  test('is not shown to a chat client', async () => {
    const { body, text } = await (await person(onKind('pii', 'tool_call', 'redact'))).send('POST', 'chat/completions', {
      messages: [{ role: 'user', content: `Do it [[plan:${named}{"a":1}]]` }],
      tools: [{ type: 'function', function: { name: 'note', parameters: { type: 'object' } } }],
    })
    expect(body.choices[0].message.tool_calls).toBeUndefined()
    expect(text).not.toContain('secret-host')
  })
})

describe('the tool_result phase (docs/api.md 12)', () => {
  /** Registers a system tool that answers its argument. */
  const echo = async (name: string) => {
    for (const { container } of world.nodes)
      container.tools.register({
        name,
        description: 'Says it back',
        inputSchema: { type: 'object' },
        category: 'search',
        timeoutMs: 5_000,
        permissionLevel: 'user',
        requiresApproval: false,
        skillId: null,
        run: async ({ say }) => ({ said: say }),
      })
  }

  test('a result is redacted before the engine and the caller read it', async () => {
    await echo('echo_one')
    const ada = await person(onKind('pii', 'tool_result', 'redact'))
    const { body, text } = await ada.send('POST', 'completions', asks('echo_one{"say":"write to ada@example.com"}'))
    expect(body.tools_used[0].result).toEqual({ said: 'write to [REDACTED:email]' })
    expect(read()[0]).toContain('write to [REDACTED:email]')
    expect(read()[0]).not.toContain('ada@example.com')
    expect(text).toContain('"phase":"tool_result"')
  })

  test('a blocked result is an error, and the engine reads the message of the rule', async () => {
    await echo('echo_two')
    const ada = await person(onKind('pii', 'tool_result', 'block', { message: 'Private.' }))
    const { body } = await ada.send('POST', 'completions', asks('echo_two{"say":"ada@example.com"}'))
    expect(body).toMatchObject({ content: 'Done.', tools_used: [{ status: 'error', result: null }] })
    expect(read()[0]).toContain('Private.')
    expect(read()[0]).not.toContain('ada@')
  })

  test.each<[string, string, string]>([
    ['plain', 'ada@example.com', '[REDACTED:email]'],
    ['as JSON', '{"mail":"ada\\u0040example.com"}', '{"mail":"[REDACTED:email]"}'],
    ['without any', '{ "mail": "none" }', '{ "mail": "none" }'],
  ])('results that a chat client sends are checked, too: %s', async (_, content, left) => {
    const ada = await person(onKind('pii', 'tool_result', 'redact'))
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }
    await ada.send('POST', 'chat/completions', {
      messages: [
        { role: 'user', content: 'Look it up' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content },
      ],
      tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
    })
    expect(read()).toEqual([expect.stringContaining(left)])
    expect(read()[0]).not.toMatch(/ada(@|.u0040)/)
  })
})

test('rules of several phases: report every firing of a run in order', async () => {
  const ada = await person(
    onTerms('input', 'flag', ['do']),
    onKind('tool_allowlist', 'tool_call', 'flag', { tools: ['x'] }),
    onTerms('output', 'redact', ['done']),
  )
  const { body } = await ada.send('POST', 'completions', asks('note{}'))
  expect(body.guardrails.map(({ phase }: { phase: string }) => phase)).toEqual(['input', 'tool_call', 'output'])
  expect(body.content).toBe('[REDACTED:blocked_term].')
})

test('a chat stream whose only call is blocked reports it, like the plain answer', async () => {
  const message = 'No mail.'
  const of = (phase: string) => onKind('pii', phase, 'block', { message })
  const tools = [{ type: 'function', function: { name: 'mail', parameters: { type: 'object' } } }]
  const messages = [{ role: 'user', content: '[[plan:mail{"to":"ada@example.com"}]]' }]
  for (const rules of [[of('tool_call')], [of('tool_call'), of('output')]]) {
    const ada = await person(...rules)
    const input = { model: 'svc-1-flash', tools, messages }
    const plain = await ada.send('POST', 'chat/completions', input)
    expect(plain.body.choices[0]).toMatchObject({ message: { content: message }, finish_reason: 'content_filter' })
    const { text } = await ada.send('POST', 'chat/completions', { ...input, stream: true })
    expect([...text.matchAll(/"content":"([^"]*)"/g).map(([, piece]) => piece)].join('')).toBe(message)
  }
})
