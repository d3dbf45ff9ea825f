// Both databases: which entries are found, and in which order, is up to its statements.
import { describe, expect, test } from 'bun:test'
import { Checkpoint, Integrity } from '../../src/audit/schema'
import { checker } from '../../src/kernel/schema'
import { createWorld } from '../support/world'

const world = await createWorld()

async function busy(input = {}) {
  const ada = await world.person(input)
  for (let made = 0; made < 4; made++) await ada.send('POST', 'keys', { name: `key ${made}` })
  const { body: events } = await ada.send('GET', 'audit')
  return { ...ada, events: events.reverse() as { id: string; hash: string }[] }
}

describe('GET /audit/integrity', () => {
  test('computes the whole chain again and says where it begins, ends and that it holds', async () => {
    const ada = await busy()
    const { body } = await ada.send('GET', 'audit/integrity')
    expect(checker(Integrity).issues({ ...body, request_id: undefined })).toEqual([])
    expect(body).toMatchObject({
      valid: true,
      algorithm: 'sha256',
      events_checked: 5,
      first_event_id: ada.events[0]!.id,
      last_event_id: ada.events[4]!.id,
      head_hash: ada.events[4]!.hash,
      broken_at: null,
    })
  })

  test('of an account with nothing on the record holds too', async () => {
    const { body } = await (await world.person()).send('GET', 'audit/integrity?from=2126-01-01')
    expect(body).toMatchObject({ valid: true, events_checked: 0, first_event_id: null, last_event_id: null })
  })

  test.each([
    ['from=2000-01-01&to=2126-01-01', 5],
    ['to=2000-01-01', 0],
    ['from=2126-01-01', 0],
  ])('?%s checks %i events', async (query, count) => {
    const { body } = await (await busy()).send('GET', `audit/integrity?${query}`)
    expect({ valid: body.valid, eventsChecked: body.events_checked }).toEqual({ valid: true, eventsChecked: count })
  })

  test('refuses dates that are none', async () => {
    const { body } = await (await world.person()).send('GET', 'audit/integrity?to=2026-02-30')
    expect({ code: body.error.code, param: body.error.param }).toEqual({ code: 'validation_error', param: 'to' })
  })
})

test('GET /audit/checkpoint is one to keep, of the chain as it was last signed', async () => {
  const ada = await busy()
  const { body } = await ada.send('GET', 'audit/checkpoint')
  expect(checker(Checkpoint).issues(body)).toEqual([])
  expect(body).toMatchObject({ scope: `user:${ada.userId}`, seq: 5, hash: ada.events[4]!.hash })
})

describe("an org's record", () => {
  const PATHS = ['audit', 'audit/export', 'audit/integrity', 'audit/checkpoint']

  test.each(['owner', 'admin'] as const)('is open to %ss', async (role) => {
    const ada = await busy({ ofOrg: true })
    await become(ada, role)
    for (const path of PATHS) expect((await ada.send('GET', path)).status).toBe(200)
    expect((await ada.send('GET', 'audit/checkpoint')).body.scope).toBe(`org:${ada.orgId}`)
  })

  test.each(['member', 'viewer'] as const)('is closed to %ss, and says what is lacking', async (role) => {
    const ada = await busy({ ofOrg: true })
    await become(ada, role)
    for (const path of PATHS) {
      const { status, body } = await ada.send('GET', path)
      expect({ status, code: body.error.code }).toEqual({ status: 403, code: 'forbidden' })
      expect(body.error.message).toContain('viewAudit')
    }
  })
})

async function become({ orgId, userId }: { orgId: string | null; userId: string }, role: string): Promise<void> {
  const { and, eq } = await import('drizzle-orm')
  const { members } = await import('../../src/accounts/orgs/table')
  await world.app.store.write(async (tx) => {
    const t = tx.of(members)
    await tx
      .update(t)
      .set({ role: role as 'member' })
      .where(and(eq(t.org_id, orgId as never), eq(t.user_id, userId as never)))
  })
}
