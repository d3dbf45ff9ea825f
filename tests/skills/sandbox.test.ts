import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../support/clock'
import { createWorld } from '../support/world'
import { manifest, submit } from './support'

const world = await createWorld()

/** `POST /skills/sandbox` is free, so the limits of docs/api.md 1.6 are what bounds it. */
describe('the sandbox', () => {
  test('counts for the tokens of the minute', async () => {
    const ada = await world.person({ tier: 'free' })
    const { skillId } = await submit(ada, manifest(), { visibility: 'private' })
    const before = (await ada.send('GET', 'rate-limits')).body.usage.tokens.remaining
    const reply = await ada.send('POST', 'skills/sandbox', { skill_id: skillId, prompt: 'A poem about the sea' })
    expect({ status: reply.status, costCents: reply.body.cost_cents }).toEqual({ status: 200, costCents: 0 })
    expect((await ada.send('GET', 'rate-limits')).body.usage.tokens.remaining).toBeLessThan(before)
  })

  test('and grants no more tokens per minute than the tier allows', async () => {
    const ada = await world.person({ tier: 'free' })
    const { skillId } = await submit(ada, manifest(), { visibility: 'private' })
    const history = Array.from({ length: 10 }, () => ({ role: 'user', content: 'sea '.repeat(5_000) }))
    const input = { skill_id: skillId, prompt: 'A poem about the sea', history }
    const replies = []
    for (let at = 0; at < 4; at++) replies.push(await ada.send('POST', 'skills/sandbox', input))
    const refused = replies.find(({ status }) => status !== 200)
    expect(refused?.status).toBe(429)
    expect(refused?.body.error.code).toBe('token_limit_exceeded')
  })

  test('is there a number of times a day for an owner, and again the day after', async () => {
    const clock = fakeClock('2030-01-01T18:00:00.000Z')
    const other = await createWorld({ clock, config: { sandboxRunsPerDay: 2 } })
    const ada = await other.person()
    const input = { manifest: manifest(), prompt: 'A poem about the sea' }
    const tried = () => ada.send('POST', 'skills/sandbox', input)
    // What is refused before it runs is not counted.
    expect((await ada.send('POST', 'skills/sandbox', { prompt: 'Which skill?' })).status).toBe(400)
    const replies = [await tried(), await tried(), await tried()]
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 429])
    expect(replies[2]!.body.error).toMatchObject({ code: 'rate_limit_exceeded', type: 'rate_limit_error' })
    expect(replies[2]!.headers.get('retry-after')).toBe(String(6 * 60 * 60))
    expect(replies[2]!.body.error.message).toContain('2 free trials a day')
    expect((await (await other.person()).send('POST', 'skills/sandbox', input)).status).toBe(200)
    clock.advance(6 * 60 * 60_000)
    expect((await tried()).status).toBe(200)
  })

  test('counts tries at the same time one by one', async () => {
    const ada = await (await createWorld({ config: { sandboxRunsPerDay: 3 } })).person()
    const input = { manifest: manifest(), prompt: 'A poem about the sea' }
    const replies = await Promise.all(Array.from({ length: 8 }, () => ada.send('POST', 'skills/sandbox', input)))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(5)
  })
})
