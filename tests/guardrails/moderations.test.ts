import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { listen } from '../support/listening'
import { PIXEL } from '../support/pixel'
import { createWorld } from '../support/world'

const world = await createWorld()
const ada = await world.person()
const { origin } = listen(world)

const THREAT = 'I will find you tonight and beat you until you cannot walk, you worthless piece of trash.'
const PLAIN = 'The train to Lisbon leaves at nine from platform four.'

const ask = (body: object) => ada.send('POST', 'moderations', body)

describe('POST /moderations (docs/api.md 32.3)', () => {
  test('flags what harms and leaves the rest, one result an input', async () => {
    const { status, body } = await ask({ input: [THREAT, PLAIN], model: 'omni-moderation-latest' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ id: expect.stringMatching(/^modr-\w{24}$/), model: 'svc-guardrails' })
    const [threat, plain] = body.results
    expect({ threat: threat.flagged, plain: plain.flagged }).toEqual({ threat: true, plain: false })
    expect(Object.values(threat.categories)).toContain(true)
    expect(Object.keys(threat.categories)).toHaveLength(13)
    expect(threat.categories['harassment/threatening']).toBe(false)
    expect(threat.category_applied_input_types).toMatchObject({ harassment: ['text'], 'sexual/minors': [] })
    expect(Object.values(plain.categories)).not.toContain(true)
  })

  test('parts are one input, whose images are not looked at', async () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
    const { body } = await ask({ input: [{ type: 'text', text: PLAIN }, image] })
    expect(body.results).toHaveLength(1)
    expect(body.svc_metadata.warnings).toEqual(['Images were not looked at. Only the text was checked.'])
  })

  test('an empty text is an input like any other: nothing gives a least length', async () => {
    for (const input of ['', ['', PLAIN], [{ type: 'text', text: '' }]]) {
      const { status, body } = await ask({ input })
      expect({ status, flagged: body.results.map(({ flagged }: { flagged: boolean }) => flagged) }).toEqual({
        status: 200,
        flagged: input.length === 2 ? [false, false] : [false],
      })
    }
  })

  test('costs nothing and needs no engine, and its audit event holds no text', async () => {
    const { body } = await ask({ input: THREAT })
    expect((await ada.send('GET', 'usage')).body.totals.cost_cents).toBe(0)
    const { text } = await ada.send('GET', 'audit?action=moderation.created&limit=1')
    expect(text).toContain(body.id)
    expect(text).not.toContain('beat you')
  })

  test('the policy bound to the key decides by its own threshold and categories', async () => {
    const bob = await world.person()
    const rule = { guardrail_id: 'content_safety', phase: 'input', verdict: 'flag' }
    const rules = [{ ...rule, config: { categories: ['sexual'], threshold: 0.8 } }]
    const { body: policy } = await bob.send('POST', 'guardrail-policies', { name: 'mine', rules, is_default: true })
    expect(policy.id).toBeString()
    expect((await bob.send('POST', 'moderations', { input: THREAT })).body.results[0].flagged).toBe(false)
  })

  test.each([
    ['nothing', {}, 'input'],
    ['no inputs', { input: [] }, 'input'],
    ['65 inputs', { input: Array.from({ length: 65 }, () => 'x') }, 'input'],
    ['a long one', { input: 'x'.repeat(100_001) }, 'input'],
  ])('refuses %s', async (_, order, param) => {
    const { status, body } = await ask(order)
    expect({ status, code: body.error.code, param: body.error.param }).toEqual({
      status: 400,
      code: 'validation_error',
      param,
    })
  })

  test('the package of OpenAI reads it', async () => {
    const client = new OpenAI({ apiKey: ada.key, baseURL: `${origin}/v1` })
    expect((await client.moderations.create({ input: THREAT })).results[0]!.flagged).toBe(true)
    const many = await client.moderations.create({ model: 'text-moderation-latest', input: [PLAIN, THREAT, PLAIN] })
    expect(many.results.map(({ flagged }) => flagged)).toEqual([false, true, false])
    const image = { type: 'image_url' as const, image_url: { url: `data:image/png;base64,${PIXEL}` } }
    const parts = await client.moderations.create({ input: [{ type: 'text', text: THREAT }, image] })
    expect(parts.results).toHaveLength(1)
    expect(parts.results[0]!.category_applied_input_types.harassment).toEqual(['text'])
    const seen = await client.moderations.create({ input: [image] })
    expect(seen.results[0]!.flagged).toBe(false)
    expect(Object.values(seen.results[0]!.category_applied_input_types).flat()).toEqual([])
    const scores = Object.values(parts.results[0]!.category_scores)
    expect(scores).toHaveLength(13)
    expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true)
    const refused = await client.moderations.create({ input: Array(65).fill('x') }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ status: 400, code: 'validation_error', param: 'input' })
    const stranger = new OpenAI({ apiKey: 'svc_sk_live_nobody', baseURL: `${origin}/v1`, maxRetries: 0 })
    const unknown = await stranger.moderations.create({ input: PLAIN }).catch((error: unknown) => error)
    expect(unknown).toMatchObject({ status: 401 })
  })
})
