// SQLite only: a format only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from '../../completions/upstream-world'
import { readFrames } from '../../support/frames'

const { world, upstream } = await createUpstreamWorld()
const { key } = await world.person()

/** The requests of two coding agents, rebuilt from their known shapes: in parts shortened, none left out. */
describe('coding agents', () => {
  const EPHEMERAL = { cache_control: { type: 'ephemeral' } }

  test('one that speaks this format: blocks of system text, many tools, beta headers (docs/api.md 33.6.22)', async () => {
    const names = [
      'Bash',
      'Read',
      'Edit',
      'Write',
      'Glob',
      'Grep',
      'Task',
      'TodoWrite',
      'WebFetch',
      'mcp__ide__getDiagnostics',
    ]
    const body = {
      model: 'claude-sonnet-4-5-20250929',
      max_tokens: 32_000,
      stream: true,
      temperature: 1,
      metadata: { user_id: 'user_0123_account__session_4567' },
      system: [
        { type: 'text', text: `x-anthropic-billing-header: cc_version=2.1; cch=${crypto.randomUUID()};` },
        { type: 'text', text: 'You are a coding agent.', ...EPHEMERAL },
        { type: 'text', text: 'The working folder is /work.', ...EPHEMERAL },
      ],
      tools: [
        ...names.map((name) => ({
          name,
          description: `The tool ${name}.`,
          input_schema: {
            $schema: 'https://json-schema.org/draft/2020-12/schema',
            type: 'object',
            properties: { command: { type: 'string' } },
            additionalProperties: false,
          },
          eager_input_streaming: true,
        })),
        { type: 'web_search_20250305', name: 'web_search', max_uses: 8 },
      ],
      thinking: { type: 'enabled', budget_tokens: 31_999 },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '<system-reminder>Today is Monday.</system-reminder>' },
            { type: 'text', text: freshPrompt('[[plan:Bash{"command":"ls"}]] List the files'), ...EPHEMERAL },
          ],
        },
      ],
    }
    const reply = await world.app.api.handle(
      new Request('http://localhost/v1/messages?beta=true', {
        method: 'POST',
        headers: {
          'x-api-key': key,
          'anthropic-version': '2023-06-01',
          'anthropic-beta':
            'claude-code-20250219,interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14',
          'anthropic-dangerous-direct-browser-access': 'true',
          'x-app': 'cli',
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      }),
    )
    expect({ status: reply.status, ignored: reply.headers.get('x-svc-ignored') }).toEqual({
      status: 200,
      ignored: 'context_management',
    })
    const frames = readFrames(await reply.text())
    expect(frames.map(({ event }) => event)).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(frames[2]!.data.content_block).toMatchObject({ type: 'tool_use', name: 'Bash', input: {} })
    expect(frames[5]!.data.delta).toEqual({ stop_reason: 'tool_use', stop_sequence: null })
    expect(frames[5]!.data.svc_metadata.warnings.join()).toContain('web_search')
    const sent = upstream.calls.at(-1)!.body as {
      messages: { content: string }[]
      tools: unknown[]
      max_tokens: number
    }
    expect(sent.messages[0]!.content).toStartWith('You are a coding agent.\n\nThe working folder is /work.')
    expect(sent.tools).toHaveLength(names.length)
    expect(sent.max_tokens).toBe(4_096)
  })

  test('one that speaks chat completions: tools, their results, and usage in the stream', async () => {
    const body = {
      model: 'gpt-5-codex',
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 16_000,
      reasoning_effort: 'medium',
      parallel_tool_calls: false,
      store: false,
      messages: [
        { role: 'developer', content: [{ type: 'text', text: 'You are a coding agent.' }] },
        { role: 'user', content: freshPrompt('[[say:Two files.]] List the files') },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_a', type: 'function', function: { name: 'shell', arguments: '{"command":["ls"]}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_a', content: 'a.ts\nb.ts' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'shell', strict: false, parameters: { type: 'object', properties: {} } },
        },
      ],
      tool_choice: 'auto',
    }
    const reply = await world.app.api.handle(
      new Request('http://localhost/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'openai-beta': 'responses=v1' },
        body: JSON.stringify(body),
      }),
    )
    expect(reply.status).toBe(200)
    const frames = readFrames(await reply.text())
    expect(frames.at(-1)!.data).toBe('[DONE]')
    expect(frames.at(-2)!.data.usage.total_tokens).toBeGreaterThan(0)
    expect(upstream.calls.at(-1)!.body).toMatchObject({ reasoning_effort: 'medium', parallel_tool_calls: false })
  })
})
