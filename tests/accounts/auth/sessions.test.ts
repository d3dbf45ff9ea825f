import { describe, expect, test } from 'bun:test'
import { removeExpiredSessions, writeSessionUses } from '../../../src/accounts'
import { callOf, operatorCaller } from '../../support/callers'
import { openTestStore } from '../../support/store'
import { createAuthWorld } from './world'

const store = await openTestStore()
const HOUR = 60 * 60_000

async function tidy({ lastSeen, clock }: ReturnType<typeof createAuthWorld>): Promise<number> {
  await writeSessionUses({ store, lastSeenBuffer: lastSeen })
  return removeExpiredSessions({ store, clock }, 500)
}

/** Whether a token still opens anything. */
const opens = async (world: ReturnType<typeof createAuthWorld>, token: string) =>
  Promise.try(() => world.bearer(token)).then(
    () => true,
    (error: { code: string }) => {
      expect(error.code).toBe('invalid_session')
      return false
    },
  )

describe('a session', () => {
  test('ends 12 hours after its last use', async () => {
    const world = createAuthWorld(store)
    const { session_token } = await world.join()
    for (let hours = 0; hours < 36; hours += 6) {
      expect(await opens(world, session_token)).toBe(true)
      await tidy(world)
      world.clock.advance(6 * HOUR)
    }
    world.clock.advance(6 * HOUR)
    expect(await opens(world, session_token)).toBe(false)
  })

  test('is moved on in the database too, so a restart does not shorten it', async () => {
    const world = createAuthWorld(store)
    const { session_token } = await world.join()
    world.clock.advance(6 * HOUR)
    expect(await opens(world, session_token)).toBe(true)
    await tidy(world)
    world.clock.advance(11 * HOUR)
    const restarted = createAuthWorld(store)
    restarted.clock.advance(17 * HOUR)
    expect(await opens(restarted, session_token)).toBe(true)
  })

  test('ends when its user signs out, at once, and no other', async () => {
    const world = createAuthWorld(store)
    const [mine, other] = [await world.join(), await world.join()]
    const call = callOf(await world.bearer(mine.session_token))
    await world.auth.signOut(call)
    expect(await opens(world, mine.session_token)).toBe(false)
    expect(await opens(world, other.session_token)).toBe(true)
    expect(await world.actions(mine.user.id)).toEqual(['auth.signup', 'auth.logout'])
  })

  test('does not outlive its account', async () => {
    const world = createAuthWorld(store)
    const { user, session_token } = await world.join()
    expect(await opens(world, session_token)).toBe(true)
    await world.orgs.setUserDisabled(callOf(operatorCaller()), user.id, true)
    expect(await opens(world, session_token)).toBe(false)
    await world.orgs.setUserDisabled(callOf(operatorCaller()), user.id, false)
    expect(await opens(world, session_token)).toBe(false)
  })

  test('opened while its account was being shut out is over when the account is let back in', async () => {
    const world = createAuthWorld(store)
    const [{ user }, other] = [await world.join(), await world.join()]
    await world.orgs.setUserDisabled(callOf(operatorCaller()), user.id, true)
    const late = await store.write((tx) => world.sessions.open(tx, user.id))
    await world.orgs.setUserDisabled(callOf(operatorCaller()), user.id, false)
    expect(await opens(world, late.token)).toBe(false)
    expect(await world.sessions.openOf(store.read, user.id)).toEqual([])
    expect(await opens(world, other.session_token)).toBe(true)
  })

  test('is cleared away once it is over, and not before', async () => {
    const world = createAuthWorld(store)
    while ((await tidy(world)) > 0);
    await world.join()
    expect(await tidy(world)).toBe(0)
    world.clock.advance(365 * 24 * HOUR)
    expect(await tidy(world)).toBeGreaterThan(0)
  })
})
