// Both databases: money.
import { afterAll, expect, test } from 'bun:test'
import { verifyChains } from '../../src/audit/service'
import { startUpstream } from '../support/upstream'
import { createWorld } from '../support/world'

const upstream = await startUpstream()
afterAll(upstream.stop)

test('calls of many people at once are each answered, charged and recorded once', async () => {
  const world = await createWorld({ config: { engineBaseUrl: upstream.url, engineModel: 'scripted' } })
  const people = [await world.person({ cents: 10_000 }), await world.person({ cents: 10_000 })]
  const calls = Array.from({ length: 60 }, (_, n) =>
    people[n % 2]!.send('POST', 'completions', { prompt: `What is ${n}+2?`, mode: 'fast' }),
  )
  const answers = await Promise.all(calls)
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  const { store, billing } = world.app.container
  for (const [n, { userId }] of people.entries()) {
    const cents = answers.filter((_, at) => at % 2 === n).reduce((sum, { body }) => sum + body.usage.cost_cents, 0)
    const { balance, held } = await billing.balance(store.read, `user:${userId}`)
    expect({ spent: Math.round(10_000e6 - balance), held }).toEqual({ spent: Math.round(cents * 1e6), held: 0 })
  }
  expect([...(await billing.verify(store.read)), ...(await verifyChains(store.read))]).toEqual([])
}, 60_000)
