import { describe, expect, test } from 'bun:test'
import { createWorld } from '../support/world'
import { manifest, submit } from './support'

const world = await createWorld()

/** `POST /skills/sandbox` is free, so the limits of contract 1.6 are what bounds it. */
describe('the sandbox', () => {
  test('counts for the tokens of the minute', async () => {
    const ada = await world.person({ tier: 'free' })
    const { skillId } = await submit(ada, manifest(), { visibility: 'private' })
    const before = (await ada.send('GET', 'rate-limits')).body.usage.tokens.remaining
    const reply = await ada.send('POST', 'skills/sandbox', { skill_id: skillId, prompt: 'A poem about the sea' })
    expect([reply.status, reply.body.cost_cents]).toEqual([200, 0])
    expect((await ada.send('GET', 'rate-limits')).body.usage.tokens.remaining).toBeLessThan(before)
  })

  test('and gives nobody more tokens in a minute than their tier has', async () => {
    const ada = await world.person({ tier: 'free' })
    const { skillId } = await submit(ada, manifest(), { visibility: 'private' })
    const history = Array.from({ length: 10 }, () => ({ role: 'user', content: 'sea '.repeat(5_000) }))
    const order = { skill_id: skillId, prompt: 'A poem about the sea', history }
    const replies = []
    for (let at = 0; at < 4; at++) replies.push(await ada.send('POST', 'skills/sandbox', order))
    const refused = replies.find(({ status }) => status !== 200)
    expect([refused?.status, refused?.body.error.code]).toEqual([429, 'token_limit_exceeded'])
  })
})
