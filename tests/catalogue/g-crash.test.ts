import { afterAll, expect, test } from 'bun:test'
import { eventually, startTarget } from './support'

test('G13 a call that was running at kill -9 is not charged, and the record says it was interrupted', async () => {
  const target = await startTarget()
  const person = await target.people.newcomer({ cents: 100 })
  const send = (body: object) => target.send('POST', 'completions', { key: person.key, body }).catch(() => null)
  // From here on the owner is known to have no caps, so that what may share a hold does.
  const first = await send({ prompt: 'paid first', mode: 'fast', conversation_id: null })
  const hanging = [
    send({ prompt: 'whole [[hang]]', mode: 'fast' }),
    send({ prompt: 'aloud [[stall]]', mode: 'fast', stream: true }),
  ]
  // Asked of the engine means held: with both there, nothing more is going to be taken.
  await eventually(
    () => ['[[hang]]', '[[stall]]'].filter((mark) => target.upstream.calls.some(({ prompt }) => prompt.includes(mark))),
    (requests) => requests.length === hanging.length,
  )
  // A hold may be answered before it is durable; what is paid for after it is not, and takes it along.
  const paid = await send({ prompt: 'paid before', mode: 'fast', conversation_id: null })
  expect((await target.moneyOf(person.email)).held).toBeGreaterThan(0)

  await target.murder()
  await Promise.all(hanging)
  const next = await target.again()
  afterAll(() => next.kill())

  const { body: money } = await next.ops('GET', `/ops/v1/credits?owner=${person.email}`)
  expect(money.held_cents).toBe(0)
  expect(money.balance_cents).toBe(100 - first!.body.usage.cost_cents - paid!.body.usage.cost_cents)
  expect((await next.ops('POST', '/ops/v1/verify')).body.ok).toBe(true)

  const response = await fetch(`${next.url}/api/v1/audit`, { headers: { authorization: `Bearer ${person.key}` } })
  const events = (await response.json()) as { action: string; outputSummary: { cost_cents: number } }[]
  const interrupted = events.filter(({ action }) => action === 'completion.interrupted')
  expect(interrupted.map(({ outputSummary }) => outputSummary.cost_cents)).toEqual([0, 0])
})
