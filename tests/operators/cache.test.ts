import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { fakeClock } from '../support/clock'
import type { Person } from '../support/world'
import { operatorSender } from './support'

const clock = fakeClock('2026-03-15T12:00:00.000Z')
const { world } = await createUpstreamWorld({ clock })
const ops = operatorSender(world)
const { store, audit } = world.app.container

const ask = (person: Person, prompt: string, members: object = {}) =>
  person.send('POST', 'completions', { prompt, mode: 'fast', ...members })
const find = async (question: object) => (await ops('POST', 'cache/find', question)).body
const purge = (input: object) => ops('POST', 'cache/purge', input)
const isCached = async (person: Person, prompt: string, members: object = {}) =>
  (await ask(person, prompt, members)).body._cached === true

describe('what operators see of the cache (docs/operating.md 2.18)', () => {
  test('how often it helped, and what that saved', async () => {
    await purge({ scope: 'all' })
    const before = (await ops('GET', 'cache')).body
    const [ada, prompt] = [await world.person(), freshPrompt()]
    const { body } = await ask(ada, prompt)
    await ask(ada, prompt)
    await ask(ada, prompt, { stream: true })
    await ask(ada, prompt, { mode: 'think' })
    const { body: after } = await ops('GET', 'cache')
    expect(after).toMatchObject({ object: 'cache', enabled: true, entries: 2, max_bytes: 64 * 1024 * 1024 })
    expect({ hits: after.hits - before.hits, misses: after.misses - before.misses }).toEqual({ hits: 2, misses: 2 })
    expect(after.saved_cents - before.saved_cents).toBeCloseTo(2 * body.usage.cost_cents, 6)
    expect(after.by_mode).toEqual([
      { mode: 'fast', entries: 1, hits: 2 },
      { mode: 'think', entries: 1, hits: 0 },
    ])
  })

  test('requests that joined a run as hits', async () => {
    const before = (await ops('GET', 'cache')).body
    const [ada, prompt] = [await world.person(), freshPrompt('[[delay:40]]')]
    await Promise.all([ask(ada, prompt), ask(ada, prompt), ask(ada, prompt)])
    const { body: after } = await ops('GET', 'cache')
    expect({ hits: after.hits - before.hits, misses: after.misses - before.misses }).toEqual({ hits: 2, misses: 1 })
  })

  test('whether a prompt would be served, of whom and until when, and never the answer', async () => {
    const [ada, bob, prompt] = [await world.person(), await world.person(), freshPrompt()]
    const { body } = await ask(ada, prompt)
    const finding = await find({ prompt })
    expect(finding).toMatchObject({
      verdict: 'hit',
      why: expect.stringContaining('only if the rest of the request is the same too'),
      answers: [
        {
          completion_id: body.id,
          owner: `user:${ada.userId}`,
          key_id: ada.keyId,
          mode: 'fast',
          hits: 0,
          created: body.created,
          cost_cents: body.usage.cost_cents,
          expires: '2026-03-15T12:05:00.000Z',
        },
      ],
    })
    expect(JSON.stringify(finding)).not.toContain(body.content)
    expect((await find({ prompt: `${prompt} ` })).verdict).toBe('miss')
    expect((await find({ prompt, mode: 'think' })).verdict).toBe('miss')
    expect((await find({ prompt, key: bob.keyId })).verdict).toBe('miss')
    expect((await find({ prompt, owner: `user:${bob.userId}` })).verdict).toBe('miss')
    expect((await find({ prompt, owner: `user:${ada.userId}`, key: ada.keyId, mode: 'fast' })).verdict).toBe('hit')
    expect((await ops('POST', 'cache/find', { prompt, owner: 'nobody@example.com' })).status).toBe(404)
  })
})

describe('purging', () => {
  test('an org, a key or a mode leaves the rest', async () => {
    const [ada, org, prompt] = [await world.person(), await world.person({ ofOrg: true }), freshPrompt()]
    const warm = async () => {
      for (const person of [ada, org]) for (const mode of ['fast', 'think']) await ask(person, prompt, { mode })
    }
    const served = async () =>
      Promise.all([ada, org].flatMap((who) => ['fast', 'think'].map((mode) => isCached(who, prompt, { mode }))))
    await warm()
    expect((await purge({ scope: 'org', name: org.orgId })).body).toMatchObject({ object: 'cache_purge', purged: 2 })
    expect(await served()).toEqual([true, true, false, false])
    expect((await purge({ scope: 'key', name: ada.keyId })).body.purged).toBe(2)
    expect(await served()).toEqual([false, false, true, true])
    await purge({ scope: 'mode', name: 'think' })
    expect(await served()).toEqual([true, false, true, false])
    await purge({ scope: 'all' })
    expect(await served()).toEqual([false, false, false, false])
  })

  test("is on the record of whose answers they were, or on the server's", async () => {
    const org = await world.person({ ofOrg: true })
    await purge({ scope: 'org', name: org.orgId })
    expect((await org.send('GET', 'audit?action=cache.purged')).body).toMatchObject([
      { entityType: 'completion', inputSummary: { metadata: { scope: 'org', purged: 0 } } },
    ])
    await purge({ scope: 'all' })
    expect(await audit.verify(store.read)).toEqual([])
  })

  test.each([
    [400, { scope: 'org' }],
    [400, { scope: 'everything' }],
    [404, { scope: 'org', name: 'nobody' }],
    [404, { scope: 'key', name: 'nothing' }],
  ])('answers %i to %j', async (status, input) => {
    expect((await purge(input)).status).toBe(status)
  })
})
