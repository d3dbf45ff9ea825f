// Both databases: a key that was ended is refused at once on both.
import { describe, expect, test } from 'bun:test'
import { createWorld, operatorCall } from '../support/world'

const world = await createWorld({ config: { tiers: { enterprise: { rpm: 1_000_000 } } } })
const REQUESTS = 10_000
const FEWER = 2_000
const READERS = 50
const PATIENCE_MS = 60_000

/** One request whose answer is only counted; conformance of the answers is seen to elsewhere. */
const ask = async (key: string): Promise<number> => {
  const request = new Request('http://localhost/api/v1/models', { headers: { authorization: `Bearer ${key}` } })
  return (await world.app.api.handle(request)).status
}

/** Hammers with a secret while `end` ends it, and counts who was let in after `end` had been answered. */
async function lateOnes(secret: string, requests: number, end: () => Promise<{ status: number }>) {
  const seen = { let: 0, refused: 0, late: 0, other: 0 }
  let isOver = false
  const reader = async () => {
    // Every reader makes its share, and some more once it is over, however long that takes.
    for (let n = 0, after = 0; n < requests / READERS || after < 5; n++) {
      const begunAfter = isOver
      if (begunAfter) after++
      const status = await ask(secret)
      if (status === 200) seen.let++
      else if (status === 401) seen.refused++
      else seen.other++
      if (begunAfter && status !== 401) seen.late++
      if (n % 20 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const ending = async () => {
    while (seen.let < requests / 4) await new Promise((resolve) => setImmediate(resolve))
    const { status } = await end()
    isOver = true
    return status
  }
  const [status] = await Promise.all([ending(), ...Array.from({ length: READERS }, reader)])
  return { ...seen, status }
}

const child = async (owner: Awaited<ReturnType<typeof world.person>>) => {
  const { id, key } = (await owner.send('POST', 'keys', { name: 'raced' })).body
  const { store, container } = world.app
  await store.write((tx) => container.increases.setTierIn(tx, operatorCall(), id, 'enterprise'))
  return { id: id as string, key: key as string }
}

describe('a secret that ends while thousands of requests use it (I26)', () => {
  test(
    'by a revocation: none is served that began after the answer',
    async () => {
      const owner = await world.person()
      const { id, key } = await child(owner)
      const seen = await lateOnes(key, REQUESTS, () => owner.send('DELETE', `keys/${id}`))
      expect(seen).toMatchObject({ status: 200, late: 0, other: 0 })
      expect(seen.let + seen.refused).toBeGreaterThanOrEqual(REQUESTS)
      expect(seen.refused).toBeGreaterThan(0)
    },
    PATIENCE_MS,
  )

  test(
    'by a rotation without grace: none with the old one, every one with the new',
    async () => {
      const owner = await world.person()
      const { id, key } = await child(owner)
      let fresh = ''
      const seen = await lateOnes(key, FEWER, async () => {
        const reply = await owner.send('POST', `keys/${id}/rotate`, { grace_period_seconds: 0 })
        fresh = reply.body.key
        return reply
      })
      expect(seen).toMatchObject({ status: 200, late: 0, other: 0 })
      expect(new Set(await Promise.all(Array.from({ length: 100 }, () => ask(fresh))))).toEqual(new Set([200]))
    },
    PATIENCE_MS,
  )

  test(
    'by the disabling of its account',
    async () => {
      const owner = await world.person()
      const { key } = await child(owner)
      const { orgs } = world.app.container
      const seen = await lateOnes(key, FEWER, async () => {
        await orgs.setUserDisabled(operatorCall(), owner.userId, true)
        return { status: 200 }
      })
      expect(seen).toMatchObject({ late: 0, other: 0 })
    },
    PATIENCE_MS,
  )
})

test(
  'a rotation with grace under load refuses nobody: the old secret and the new one are served throughout',
  async () => {
    const owner = await world.person()
    const { id, key } = await child(owner)
    const secrets = [key]
    const statuses = new Set<number>()
    const reader = async () => {
      for (let n = 0; n < 40; n++) statuses.add(await ask(secrets[n % secrets.length]!))
    }
    const rotating = async () => {
      for (let n = 0; n < 5; n++) secrets.push((await owner.send('POST', `keys/${id}/rotate`, {})).body.key)
    }
    await Promise.all([rotating(), ...Array.from({ length: 20 }, reader)])
    expect(statuses).toEqual(new Set([200]))
    expect(await Promise.all(secrets.map(ask))).toEqual(secrets.map(() => 200))
  },
  PATIENCE_MS,
)
