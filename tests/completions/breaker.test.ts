import { expect, test } from 'bun:test'
import type { Person, Reply } from '../support/world'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const ask = (person: Person, words: string): Promise<Reply> =>
  person.send('POST', 'completions', { prompt: freshPrompt(words), mode: 'fast' })

const times = async (count: number, call: () => Promise<Reply>) => {
  for (let time = 0; time < count; time++) expect((await call()).status).toBe(503)
}

test('one person’s unusable prompts keep nobody else out (docs/api.md 22.3)', async () => {
  const { world, upstream } = await createUpstreamWorld({ isAlone: true })
  const [ada, bob] = [await world.person(), await world.person()]
  await times(5, () => ask(ada, '[[html]]'))
  const requested = upstream.calls.length
  const { status, headers, body } = await ask(ada, 'Hello')
  expect(status).toBe(503)
  expect(body.error.code).toBe('engine_unavailable')
  expect(upstream.calls.length).toEqual(requested)
  expect(Number(headers.get('retry-after'))).toBeWithin(25, 31)
  expect((await ask(bob, 'Hello')).status).toBe(200)
  expect(world.logged.join('')).toContain(`"breaker":"open","owners":"user:${ada.userId}"`)
  expect((await world.send('GET', 'health')).body.status).toBe('healthy')
})

test('what two people see opens it for all, which /health shows at once', async () => {
  const { world } = await createUpstreamWorld({ isAlone: true })
  const [ada, bob] = [await world.person(), await world.person()]
  expect((await world.send('GET', 'health')).body.status).toBe('healthy')
  for (const person of [ada, bob]) await times(2, () => ask(person, '[[html]]'))
  expect((await world.send('GET', 'health')).headers.get('x-cache')).toBe('HIT')
  await times(1, () => ask(ada, '[[html]]'))
  const { status, body } = await world.send('GET', 'health')
  expect(status).toBe(200)
  expect(body.status).toBe('degraded')
  expect(body.providers['svc-core'].status).toBe('down')
  const refused = await ask(await world.person(), 'Hello')
  expect(refused.status).toBe(503)
  expect(Number(refused.headers.get('retry-after'))).toBeWithin(25, 31)
})
