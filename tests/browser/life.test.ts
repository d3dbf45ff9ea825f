import { describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { sessionRepository } from '../../src/browser/repository'
import type { BrowserSessionId } from '../../src/browser/schema'
import { fakeClock } from '../support/clock'
import { expectData, subscribeTo } from '../support/event-data'
import { eventually } from '../support/eventually'
import { operatorCall } from '../support/world'
import { createBrowsingWorld, hasChromium, rowOf, startSession } from './support'

const MINUTE = 60_000

describe.skipIf(!hasChromium)('how a session ends', async () => {
  const clock = fakeClock()
  const world = await createBrowsingWorld({ clock })
  const { browser, billing, store } = world.app.container
  const stateOf = async (person: { send: Awaited<ReturnType<typeof world.person>>['send'] }, id: string) =>
    (await person.send('GET', `browser/sessions/${id}`)).body

  test('a clock that jumps past the cap ends and charges it once, for the time until the cap (I34, N16)', async () => {
    const person = await world.person()
    const session = await startSession(person, { keep_alive: true })
    clock.advance(19 * MINUTE)
    await browser.watch()
    expect((await stateOf(person, session.id)).status).toBe('active')
    clock.advance(25 * MINUTE)
    await Promise.all([browser.watch(), browser.watch()])
    expect(await stateOf(person, session.id)).toMatchObject({ status: 'ended', ended_reason: 'cap', embed_url: null })
    expect((await session.end()).body).toMatchObject({ duration_seconds: 1_200, cost_cents: 30 })
    const { balance, held } = await billing.balance(store.read, `user:${person.userId}`)
    expect({ balance, held }).toEqual({ balance: 9_970_000_000, held: 0 })
  })

  test('without use it ends, unless it is kept alive', async () => {
    const person = await world.person()
    const [idle, stored] = [await startSession(person), await startSession(person, { keep_alive: true })]
    clock.advance(4 * MINUTE)
    await idle.observe()
    clock.advance(4 * MINUTE)
    await browser.watch()
    expect((await stateOf(person, idle.id)).status).toBe('active')
    clock.advance(2 * MINUTE)
    await browser.watch()
    expect(await stateOf(person, idle.id)).toMatchObject({ status: 'ended', ended_reason: 'idle' })
    expect((await idle.end()).body).toMatchObject({ duration_seconds: 540, cost_cents: 14 })
    expect((await stateOf(person, stored.id)).status).toBe('active')
  })

  test('it ends when the credit does, and costs no more than there was', async () => {
    const person = await world.person({ cents: 10 })
    const session = await startSession(person, { keep_alive: true })
    clock.advance(5 * MINUTE)
    await browser.watch()
    expect(await stateOf(person, session.id)).toMatchObject({ status: 'ended', ended_reason: 'credits' })
    expect((await session.end()).body.cost_cents).toBe(8)
    const poor = await world.person({ cents: 5 })
    expect((await poor.send('POST', 'browser/sessions', {})).body.error.code).toBe('insufficient_credits')
  })

  test('it ends with the access of its key or its person, and so does its link (A8, N11)', async () => {
    const [revoked, member, disabled, stored] = await Promise.all([
      world.person(),
      world.person({ ofOrg: true }),
      world.person(),
      world.person(),
    ])
    const people = [revoked, member, disabled, stored]
    const sessions = await Promise.all(people.map((person) => startSession(person, { keep_alive: true })))
    const linkOf = (at: number) => {
      const { pathname, search } = new URL(sessions[at]!.handle.embed_url)
      return world.send('GET', `${pathname}/live${search}`)
    }
    const owner = await world.signedIn(member)
    expect((await (await world.signedIn(revoked)).send('DELETE', `keys/${revoked.keyId}`)).status).toBe(200)
    expect((await owner.send('DELETE', `orgs/${member.orgId}`)).status).toBe(200)
    await world.app.container.orgs.setUserDisabled(operatorCall(), disabled.userId, true)
    clock.advance(5_000)
    await browser.watch()
    const found = await Promise.all(
      sessions.map(({ id }) => sessionRepository.find(store.read, null, id as BrowserSessionId)),
    )
    expect(found.map((row) => row!.reason)).toEqual(['access', 'access', 'access', null])
    expect((await Promise.all(people.map((_, at) => linkOf(at)))).map(({ status }) => status)).toEqual([
      401, 401, 401, 200,
    ])
    expect(found.slice(0, 3).map((row) => [row!.ended_at! - row!.started_at, row!.hold])).toEqual(
      Array(3).fill([5_000, null]),
    )
    await sessions[3]!.end()
  })

  test('a person has three at once by default, also when ten are asked for together (N8)', async () => {
    const { settings } = { settings: world.config }
    const person = await world.person()
    expect(settings.browserSessionsPerUser).toBe(50)
    const small = await createBrowsingWorld({ config: { browserSessionsPerUser: 3, browserPath: 'off' } })
    const other = await small.person()
    expect((await other.send('POST', 'browser/sessions', {})).body.error).toMatchObject({
      code: 'browser_unconfigured',
      type: 'api_error',
    })
    expect((await other.send('POST', 'browser/sessions', {})).status).toBe(501)
    expect((await person.send('GET', 'browser/sessions')).body.sessions).toEqual([])
  })

  test('when Chromium dies its sessions end with that reason, and the next one starts another', async () => {
    const person = await world.person()
    const session = await startSession(person)
    const pid = (await browser.host.pid())!
    process.kill(pid, 'SIGKILL')
    await eventually(async () => (await stateOf(person, session.id)).status !== 'active')
    expect(await stateOf(person, session.id)).toMatchObject({ status: 'ended', ended_reason: 'browser' })
    const next = await startSession(person)
    expect(await browser.host.pid()).not.toBe(pid)
    await next.end()
    expect((await billing.balance(store.read, `user:${person.userId}`)).held).toBe(0)
  })

  test('those of a server that died are ended by the next one, charged until they were last seen (N17)', async () => {
    const person = await world.person()
    const id = await rowOf(world, person)
    clock.advance(30_000)
    await browser.watch()
    // On Postgres a node without a lease is gone, too.
    expect(await stateOf(person, id)).toMatchObject({ status: 'ended', ended_reason: 'lost' })
    expect((await person.send('DELETE', `browser/sessions/${id}`)).body).toMatchObject({
      duration_seconds: 0,
      cost_cents: 0,
    })
  })

  test('a retry with its Idempotency-Key gets the same session', async () => {
    const person = await world.person()
    await subscribeTo(person, 'browser.*')
    const headers = { 'idempotency-key': randomUUID() }
    const first = await person.send('POST', 'browser/sessions', {}, headers)
    const second = await person.send('POST', 'browser/sessions', {}, headers)
    expect(second.headers.get('x-idempotent-replay')).toBe('true')
    expect(second.text).toBe(first.text)
    expect((await person.send('GET', 'browser/sessions')).body.sessions).toHaveLength(1)
    await person.send('DELETE', `browser/sessions/${first.body.session_id}`)
    const actions = (await person.send('GET', 'audit')).body.map(({ action }: { action: string }) => action)
    expect(actions.slice(0, 2)).toEqual(['browser.session_ended', 'browser.session_created'])
    await expectData(person, ['browser.session_ended'])
  })

  test('the books are right after all of it', async () => {
    expect(await billing.verify(store.read)).toEqual([])
  })
})
