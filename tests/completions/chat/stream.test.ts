// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import { joinDeltas, readFrames } from '../../support/frames'
import { createUpstreamWorld, freshPrompt } from '../upstream-world'

const { world } = await createUpstreamWorld()
const ada = await world.person()

async function stream(words: string, members: object = {}) {
  const messages = [{ role: 'user', content: freshPrompt(words) }]
  const reply = await ada.send('POST', 'chat/completions', { messages, stream: true, ...members })
  return { ...reply, frames: reply.status === 200 ? readFrames(reply.text) : [] }
}

describe('a chat stream (contract 4)', () => {
  test('is role, texts, finish, [DONE], in that order and without event names', async () => {
    const { frames, headers } = await stream('[[say:one two three]][[slow:60]]')
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(frames.every(({ event }) => event === null)).toBe(true)
    const chunks = frames.slice(0, -1).map(({ data }) => data)
    const common = {
      id: chunks[0].id,
      object: 'chat.completion.chunk',
      created: chunks[0].created,
      model: 'svc-1-flash',
    }
    expect(chunks).toEqual([
      { ...common, choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
      ...['one', ' two', ' three'].map((content) => ({
        ...common,
        choices: [{ index: 0, delta: { content }, finish_reason: null }],
      })),
      {
        ...common,
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
        svc_metadata: {
          mode: 'auto',
          resolved_mode: 'fast',
          tools_used: [],
          artifacts: [],
          engine: 'svc-core',
          cost_cents: expect.any(Number),
          conversation_id: null,
          routing: expect.objectContaining({ source: 'local', fallback_used: false }),
        },
      },
    ])
    expect(common.id).toMatch(/^chatcmpl_/)
    expect(frames.at(-1)?.data).toBe('[DONE]')
  })

  test('counts its tokens in a chunk of its own when asked to', async () => {
    const { frames } = await stream('[[tokens:4]]', { stream_options: { include_usage: true } })
    expect(frames.at(-2)?.data).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 11, completion_tokens: 4, total_tokens: 15 },
    })
    expect(frames.filter(({ data }) => data.usage)).toHaveLength(1)
    const without = await stream('[[tokens:4]]', { stream_options: { include_usage: false } })
    expect(without.frames.some(({ data }) => data.usage)).toBe(false)
  })

  test.each(['length', 'content_filter'])('that ends by %s says so', async (reason) => {
    const { frames } = await stream(`[[finish:${reason}]]`)
    expect(frames.at(-2)?.data.choices[0].finish_reason).toBe(reason)
  })

  test('of the engine that was asked for names it in every chunk', async () => {
    const { frames } = await stream('', { model: 'svc-1-reason' })
    expect(new Set(frames.slice(0, -1).map(({ data }) => data.model))).toEqual(new Set(['svc-1-reason']))
  })

  test('carries any text whole', async () => {
    const text = 'data: x\n\ndata: (DONE)\n\u2028 "quotes" \\ é 漢 😀'
    const { frames } = await stream(`[[say:${text}]]`)
    expect(joinDeltas(frames).replace(/\s+/g, ' ')).toBe(text.replace(/\s+/g, ' '))
  })

  test.each(['cut', 'truncate', 'malformed'])('that breaks off with %s says so, then [DONE]', async (fault) => {
    const { frames, headers } = await stream(`[[${fault}]][[slow:60]][[tokens:8]]`)
    const isEarly = frames.length === 0
    expect(isEarly).toBe(fault === 'malformed')
    if (isEarly) return
    expect(frames.at(-2)?.data).toEqual({
      error: {
        message: expect.stringContaining('stopped in the middle'),
        type: 'api_error',
        code: 'engine_unavailable',
        request_id: headers.get('x-request-id'),
      },
    })
    expect(frames.at(-1)?.data).toBe('[DONE]')
    expect(frames.some(({ data }) => data.choices?.[0]?.finish_reason)).toBe(false)
  })
})
