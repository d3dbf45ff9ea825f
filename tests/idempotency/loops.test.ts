import { expect, test } from 'bun:test'
import { expiredKeys, type Idempotency, startIdempotencyLoop } from '../../src/idempotency'
import { fakeClock } from '../support/clock'

const settle = () => Bun.sleep(0)

test('leases are renewed every half second, however many requests run, and a failure is told by name', async () => {
  const clock = fakeClock()
  const errors: string[] = []
  let renewed = 0
  const renewLeases = async () => {
    renewed += 1
    if (renewed === 3) throw new Error('away')
    return 7
  }
  const loop = startIdempotencyLoop({
    idempotency: { hasLeases: true, renewLeases } as unknown as Idempotency,
    clock,
    onError: (name, error) => errors.push(`${name}: ${(error as Error).message}`),
  })
  await settle()
  expect(renewed).toBe(1)
  clock.advance(499)
  await settle()
  expect(renewed).toBe(1)
  clock.advance(1)
  await settle()
  expect(renewed).toBe(2)
  clock.advance(500)
  await settle()
  expect(errors).toEqual(['idempotency-leases: away'])
  await loop.stop()
})

test('expired keys are deleted every minute, batch after batch until none is left', async () => {
  const requests: number[] = []
  const left = [50, 50, 20, 0, 50]
  const kind = expiredKeys({
    dueAt: async () => null,
    removeExpired: async (limit) => {
      requests.push(limit)
      return Array(left.shift()!).fill(0)
    },
  })
  expect(kind).toMatchObject({ name: 'idempotency.expiry', everyMs: 60_000 })
  await kind.run({} as never)
  expect(requests).toHaveLength(4)
})
