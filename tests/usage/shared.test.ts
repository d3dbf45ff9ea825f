import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { members } from '../../src/accounts/orgs/table'
import type { KeyId } from '../../src/kernel/ids'
import { createUsageLog } from '../../src/usage'
import { fakeClock } from '../support/clock'
import { createWorld, operatorCall, type Person } from '../support/world'

const clock = fakeClock('2026-03-15T12:00:00.000Z')
const world = await createWorld({ clock, isAlone: true })
const { store, orgs } = world.app.container
const PATHS = ['usage', 'usage/series', 'usage/series?group_by=mode']

/** One call that the person's organization pays for. */
const called = ({ userId, keyId, orgId }: Person) =>
  store.write((tx) =>
    createUsageLog({ clock }).record(tx, {
      ...{ requestId: 'req_1', owner: `org:${orgId}` as const, userId, keyId: keyId as KeyId },
      ...{ endpoint: '/completions', mode: 'fast', resolvedMode: 'fast', model: 'svc-1-flash', status: 200 },
      ...{ promptTokens: 10, completionTokens: 10, costMicro: 1_000_000, cached: false, fallbackUsed: false },
      ...{ latencyMs: 40, ttftMs: null, skills: [] },
    }),
  )
/** How many calls each path shows. */
const seen = (person: Person, maxAge?: number, headers: Record<string, string> = {}) =>
  Promise.all(
    PATHS.map(async (path) => {
      const accepts: Record<string, string> = maxAge === undefined ? {} : { 'cache-control': `max-age=${maxAge}` }
      const { body } = await person.send('GET', path, undefined, { ...accepts, ...headers })
      return body.totals.requests
    }),
  )
const of = (count: number) => PATHS.map(() => count)
/** The statuses for a session that names an organization. The header is for every route, so none declares its 404. */
const statuses = ({ key }: Person, org: string) => {
  const headers = { authorization: `Bearer ${key}`, 'x-svc-org': org, 'cache-control': 'max-age=10' }
  const ask = (path: string) => world.app.api.handle(new Request(`http://localhost/api/v1/${path}`, { headers }))
  return Promise.all(PATHS.map(async (path) => (await ask(path)).status))
}

test('an answer is as old as its reader accepts, and a reader who names no age sees the call before it', async () => {
  const boss = await world.person({ ofOrg: true })
  await called(boss)
  expect(await seen(boss, 10)).toEqual(of(1))
  await called(boss)
  clock.advance(3_000)
  expect(await seen(boss, 4)).toEqual(of(1))
  for (const age of [3, 0, undefined]) {
    await called(boss)
    expect({ age, seen: await seen(boss, age) }).toEqual({ age, seen: of(age === 3 ? 3 : age === 0 ? 4 : 5) })
  }
  // Nobody can ask for an answer older than ten seconds.
  clock.advance(10_000)
  expect(await seen(boss, 999_999)).toEqual(of(5))
  await called(boss)
  clock.advance(10_000)
  expect(await seen(boss, 999_999)).toEqual(of(6))
})

test('an answer is shared with those who may see it, and with nobody else', async () => {
  const [boss, member, stranger] = [
    await world.person({ ofOrg: true }),
    await world.person(),
    await world.person({ ofOrg: true }),
  ]
  const orgId = boss.orgId!
  const joining = { orgId, userId: member.userId, role: 'viewer', invitedBy: null } as const
  await store.write((tx) => orgs.members.join(tx, operatorCall(), joining))
  const [owner, viewer, other] = await Promise.all([boss, member, stranger].map(world.signedIn))
  await called(boss)
  expect(await seen(owner!, 10)).toEqual(of(1))
  await called(boss)
  const inOrg = { 'x-svc-org': orgId }
  expect(await seen(viewer!, 10, inOrg)).toEqual(of(1))
  expect(await seen(viewer!, 10, { 'x-svc-org': 'personal' })).toEqual(of(0))
  expect(await seen(stranger, 10)).toEqual(of(0))
  expect(await seen(other!, 10)).toEqual(of(0))
  expect(await statuses(other!, orgId)).toEqual(of(404))
  const answers = await Promise.all(
    [owner!, viewer!].map((person) =>
      person.send('GET', 'usage', undefined, { ...inOrg, 'cache-control': 'max-age=10' }),
    ),
  )
  expect(answers.map(({ body }) => body.totals.requests)).toEqual([1, 1])
  // Each answer has the id of its own request.
  for (const { body, headers } of answers) expect(body.request_id).toBe(headers.get('x-request-id'))
  await store.write((tx) => tx.delete(tx.of(members)).where(eq(tx.of(members).user_id, member.userId)))
  expect(await statuses(viewer!, orgId)).toEqual(of(404))
  expect(await seen(owner!, 10)).toEqual(of(1))
})
