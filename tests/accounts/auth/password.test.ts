// Both databases: attempts and links are counted and used up by its statements.
import { describe, expect, test } from 'bun:test'
import { cliOver } from '../../support/cli'
import { fakeClock } from '../../support/clock'
import { fakeIo } from '../../support/io'
import { createWorld } from '../../support/world'

const clock = fakeClock()
const world = await createWorld({ clock, config: { signup: 'open' } })
const run = cliOver(world)
const OLD = 'correct horse'

let people = 0
async function person() {
  const email = `somebody.${++people}@example.com`
  const first = await world.send('POST', 'auth/signup', { email, password: OLD })
  const again = () => world.send('POST', 'auth/sessions', { email, password: OLD })
  return { email, token: first.body.session_token as string, again }
}
const as = (token: string) => ({ authorization: `Bearer ${token}` })
const change = (token: string, body: object) => world.send('POST', 'auth/password', body, as(token))
const isOpen = async (token: string) => (await world.send('GET', 'auth/me', undefined, as(token))).status === 200
const signIn = async (email: string, password: string) =>
  (await world.send('POST', 'auth/sessions', { email, password })).status

describe('POST /auth/password', () => {
  test('sets a new one and ends the other sessions, but not this one', async () => {
    const { email, token, again } = await person()
    const others = [(await again()).body.session_token, (await again()).body.session_token]
    for (const one of others) expect(await isOpen(one)).toBe(true)
    const { status, body } = await change(token, { current: OLD, new: 'battery staple' })
    expect({ status, ended: body.ended }).toEqual({ status: 200, ended: 2 })
    expect(await isOpen(token)).toBe(true)
    for (const one of others) expect(await isOpen(one)).toBe(false)
    expect(await signIn(email, OLD)).toBe(401)
    expect(await signIn(email, 'battery staple')).toBe(201)
  })

  test('changes nothing with a wrong current password, or without it', async () => {
    const { email, token } = await person()
    const wrong = await change(token, { current: 'not it', new: 'battery staple' })
    expect({ status: wrong.status, code: wrong.body.error.code }).toEqual({ status: 401, code: 'invalid_credentials' })
    const none = await change(token, { new: 'battery staple' })
    expect({ status: none.status, param: none.body.error.param }).toEqual({ status: 400, param: 'current' })
    expect({ signIn: await signIn(email, OLD), isOpen: await isOpen(token) }).toEqual({ signIn: 201, isOpen: true })
  })

  test('limits guesses as the sign-in does, and counts them together', async () => {
    const { email, token } = await person()
    const guess = (n: number) => change(token, { current: `guess ${n}`, new: 'battery staple' })
    const statuses: number[] = []
    for (let n = 0; n < 11; n++) statuses.push((await guess(n)).status)
    expect(statuses).toEqual([...Array(10).fill(401), 429])
    expect(await signIn(email, OLD)).toBe(429)
    clock.advance(15 * 60_000)
    expect((await change(token, { current: OLD, new: 'battery staple' })).status).toBe(200)
  })

  test('takes 8 to 200 characters of any kind, but not the address or its first part', async () => {
    const { email, token } = await person()
    for (const wanted of ['seven77', 'x'.repeat(201), email, email.toUpperCase(), email.split('@')[0]!]) {
      const { status, body } = await change(token, { current: OLD, new: wanted })
      expect({ status, param: body.error.param }).toEqual({ status: 400, param: 'new' })
    }
    for (const [current, wanted] of [
      [OLD, '        '],
      ['        ', 'ü'.repeat(200)],
    ] as const)
      expect((await change(token, { current, new: wanted })).status).toBe(200)
    const taken = await world.send('POST', 'auth/signup', { email: 'mistaken@example.com', password: 'mistaken' })
    expect({ status: taken.status, param: taken.body.error.param }).toEqual({ status: 400, param: 'password' })
  })

  test('is for a person in a session, not for a key', async () => {
    const { status, body } = await (await world.person()).send('POST', 'auth/password', { new: 'battery staple' })
    expect({ status, code: body.error.code }).toEqual({ status: 401, code: 'invalid_session' })
  })

  test('needs the current one again 15 minutes after a sign-in by link', async () => {
    const { email } = await person()
    const entered = async () => {
      const token = new URL(JSON.parse((await run(['users', 'link', email, '--json'])).stdout).url).hash.slice(1)
      return (await world.send('POST', 'auth/links/redeem', { token })).body.session_token as string
    }
    const [soon, late] = [await entered(), await entered()]
    clock.advance(15 * 60_000)
    expect((await change(late, { new: 'too late now' })).status).toBe(400)
    expect((await change(soon, { new: 'too late now' })).status).toBe(400)
    expect((await change(await entered(), { new: 'in time now' })).status).toBe(200)
    expect(await isOpen(late)).toBe(false)
  })

  test('of two at once sets one', async () => {
    const { email, token } = await person()
    const wanted = ['this one wins', 'or this one']
    const replies = await Promise.all(wanted.map((one) => change(token, { current: OLD, new: one })))
    const [set, refused] = replies.map(({ status }) => status).sort()
    expect(set).toBe(200)
    // Anyone who is checked after the other has set one has a current password that is no longer right.
    expect([401, 409]).toContain(refused!)
    expect((await Promise.all(wanted.map((one) => signIn(email, one)))).sort()).toEqual([201, 401])
  })
})

describe('svc-admin users password', () => {
  test('makes a password that is shown once, and ends all sessions', async () => {
    const { email, token } = await person()
    const { stdout, exitCode } = await run(['users', 'password', email, '--yes', '--json'])
    expect(exitCode).toBe(0)
    const { password, ended } = JSON.parse(stdout)
    expect({ ended, isOpen: await isOpen(token) }).toEqual({ ended: 1, isOpen: false })
    expect(await signIn(email, OLD)).toBe(401)
    expect(await signIn(email, password)).toBe(201)
  })

  test('takes one from stdin and does not show it', async () => {
    const { email } = await person()
    const io = fakeIo({ stdin: 'from a file\n' })
    const { stdout, exitCode } = await run(['users', 'password', email, '--from-file', '-', '--yes', '--json'], { io })
    expect(exitCode).toBe(0)
    expect(stdout).not.toContain('from a file')
    expect(JSON.parse(stdout).password).toBeUndefined()
    expect(await signIn(email, 'from a file')).toBe(201)
  })

  test('of nobody exits 3', async () => {
    expect((await run(['users', 'password', 'nobody@example.com', '--yes'])).exitCode).toBe(3)
    expect((await run(['users', 'link', 'nobody@example.com'])).exitCode).toBe(3)
  })
})
