import { expect, test } from 'bun:test'
import { startTarget } from './support'
import { keepsItsPromises } from './support/oracle'

/** I: limits are per key, so accounts are bounded: 31 free keys made 31 times the free limit. */

const target = await startTarget()
const { people, send } = target
const AT_ONCE = 20

/** The statuses of so many requests, twenty at a time; each refusal must name its bound. */
async function statuses(key: string, path: string, body: object, count: number, bound: string): Promise<number[]> {
  const seen: number[] = []
  for (let from = 0; from < count; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - from) }, () => send('POST', path, { key, body }))
    for (const { status, body: message } of await Promise.all(some)) {
      seen.push(status)
      if (status !== 201)
        expect(message.error).toMatchObject({ code: 'conflict', message: expect.stringContaining(bound) })
    }
  }
  return seen
}

test.each([
  ['keys', {}, 99, '100 API keys'],
  ['orgs', { name: 'Acme' }, 50, '50 organizations'],
  [
    'guardrail-policies',
    { name: 'p', rules: [{ guardrail_id: 'pii', phase: 'input', verdict: 'flag' }] },
    500,
    '500 guardrail policies',
  ],
  ['routing-preferences', { name: 'p', rules: [], examples: [] }, 500, '500 routing preferences'],
])('I-15 what an account may have: %s %j: %i more, then 409 that says so', async (path, body, max, bound) => {
  const seen = await statuses((await people.newcomer()).key, path, body, max + AT_ONCE, bound)
  expect(seen.filter((status) => status === 201).length).toEqual(max)
  expect(new Set(seen)).toEqual(new Set([201, 409]))
})

keepsItsPromises(target)
