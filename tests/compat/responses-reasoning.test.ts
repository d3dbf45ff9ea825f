// SQLite only: what is sealed for a client and what is left out of a prompt, which no database sees.
import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { responses } from './formats'

const { world, upstream } = await createUpstreamWorld({ config: { engineContextWindow: 2_000 } })
const ada = await world.person()
const eve = await world.person()
const model = 'svc-1-flash'
const THOUGHTS = '[[think:Two and two.]] [[say:Four.]]'
const include = ['reasoning.encrypted_content']
const respond = (body: object, by = ada) => by.send('POST', '/v1/responses', { model, store: false, ...body })
const sent = () => JSON.stringify(upstream.calls.at(-1)!.body.messages)

describe('thoughts that a client keeps sealed (docs/api.md 29.6), as coding agents do', () => {
  test('come without a summary, plain and streamed, and go back to the engine as they were (docs/api.md 33.6.9)', async () => {
    const { body } = await respond({ input: freshPrompt(THOUGHTS), include })
    const [thoughts, answer] = body.output
    expect(thoughts).toEqual({
      id: expect.stringMatching(/^rs_/),
      type: 'reasoning',
      summary: [],
      encrypted_content: expect.any(String),
    })
    expect(JSON.stringify(body)).not.toContain('Two and two.')
    const streamed = await respond({ input: freshPrompt(THOUGHTS), include, stream: true })
    responses.readStream(streamed.text)
    expect(streamed.text).toContain('encrypted_content')
    expect(streamed.text).not.toContain('reasoning_summary')
    const input = [{ role: 'user', content: 'Sum?' }, thoughts, answer, { role: 'user', content: freshPrompt() }]
    expect((await respond({ input })).body.svc_metadata.warnings).toBeUndefined()
    expect(sent()).toContain('"reasoning_content":"Two and two."')
    // Another owner cannot read them.
    const others = await respond({ input }, eve)
    expect(others.body.svc_metadata.warnings.join()).toContain('encrypted_content')
    expect(sent()).not.toContain('Two and two.')
  })

  test('are beside the summary where both are asked for', async () => {
    const { body } = await respond({ input: freshPrompt(THOUGHTS), include, reasoning: { summary: 'auto' } })
    expect(body.output[0]).toMatchObject({
      summary: [{ type: 'summary_text', text: 'Two and two.' }],
      encrypted_content: expect.any(String),
    })
  })
})

describe('a history that is longer than the context', () => {
  const long = Array.from({ length: 40 }, (_, turn) => [
    { role: 'user', content: `Question ${turn} ${'word '.repeat(60)}` },
    { role: 'assistant', content: `Answer ${turn}` },
  ]).flat()

  test('is refused in words that clients know, so that they shorten it themselves', async () => {
    const { status, body } = await respond({ input: [...long, { role: 'user', content: freshPrompt() }] })
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'context_length_exceeded' })
    const messages = [...long, { role: 'user', content: freshPrompt() }]
    const message = await ada.send('POST', '/v1/messages', { model, max_tokens: 50, messages })
    expect({ status: message.status, words: message.body.error.message }).toEqual({
      status: 400,
      words: expect.stringMatching(/^prompt is too long: \d+ tokens > 2000 maximum/),
    })
  })

  test('loses its oldest turns with "truncation": "auto", and a warning counts them', async () => {
    const input = [...long, { role: 'user', content: freshPrompt() }]
    const { status, body } = await respond({ input, truncation: 'auto', instructions: 'Be brief.' })
    expect({ status, truncation: body.truncation }).toEqual({ status: 200, truncation: 'auto' })
    expect(body.svc_metadata.warnings.join()).toMatch(/The \d+ oldest messages were left out/)
    expect(sent()).not.toContain('Question 0 ')
    expect(sent()).toContain('Question 39')
    expect(sent()).toContain('Be brief.')
  })
})
