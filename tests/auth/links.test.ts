import { describe, expect, test } from 'bun:test'
import { cliOver } from '../support/cli'
import { fakeClock } from '../support/clock'
import { createWorld } from '../support/world'

const clock = fakeClock()
const world = await createWorld({ clock, config: { publicUrl: 'https://svc.example' } })
const run = cliOver(world)
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const HOST = { host: 'svc.example' }

let made = 0
async function linked() {
  const email = `guest${++made}@example.com`
  const { stdout, exitCode } = await run(['users', 'create', email, '--link', '--json'])
  expect(exitCode).toBe(0)
  const { sign_in_link: link, password, id } = JSON.parse(stdout)
  expect(password).toBeUndefined()
  return { email, link: link as string, path: new URL(link).pathname, id }
}
const follow = (path: string) => world.send('GET', path, undefined, HOST)
const choose = (path: string, password: string) =>
  world.send('POST', path, `password=${encodeURIComponent(password)}`, { ...FORM, ...HOST })
const signIn = (email: string, password: string) => world.send('POST', 'auth/sessions', { email, password }, HOST)

describe('a sign-in link', () => {
  test('lets someone choose a password and signs them in', async () => {
    const { email, link, path } = await linked()
    expect(link).toStartWith('https://svc.example/sign-in/')
    const shown = await follow(path)
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(shown.text).toContain(email)
    expect(shown.headers.get('referrer-policy')).toBe('no-referrer')
    const done = await choose(path, 'correct horse')
    expect(done.status).toBe(200)
    const cookie = done.headers.get('set-cookie')!
    expect(cookie).toMatch(/^svc_session=svc_ds_\w+; .*HttpOnly/)
    const me = await world.send('GET', 'auth/me', undefined, { cookie: cookie.split(';')[0]!, ...HOST })
    expect(me.body.user.email).toBe(email)
    expect((await signIn(email, 'correct horse')).status).toBe(201)
  })

  test('works once, also when two follow it together', async () => {
    const { email, path } = await linked()
    const replies = await Promise.all(['first one', 'second one'].map((password) => choose(path, password)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404])
    expect((await follow(path)).status).toBe(404)
    expect((await choose(path, 'third one')).headers.get('set-cookie')).toBeNull()
    const ways = await Promise.all(['first one', 'second one', 'third one'].map((one) => signIn(email, one)))
    expect(ways.filter(({ status }) => status === 201)).toHaveLength(1)
  })

  test('ends after a day, with the account, and when a byte of it is another', async () => {
    const [old, gone, forged] = [await linked(), await linked(), await linked()]
    await run(['users', 'disable', gone.email, '-y'])
    expect((await follow(gone.path)).status).toBe(404)
    const [id, until, signature] = forged.path.split('/').at(-1)!.split('.')
    const others = [
      `${old.id}.${until}.${signature}`,
      `${id}.${(Number.parseInt(until!, 36) + 1).toString(36)}.${signature}`,
      `${id}.${until}.${'0'.repeat(64)}`,
      'nothing',
      '...',
      `${id}.${until}`,
    ]
    for (const token of others) expect((await follow(`/sign-in/${token}`)).status).toBe(404)
    expect((await follow(forged.path)).status).toBe(200)
    clock.advance(24 * 3_600_000)
    expect((await choose(old.path, 'too late now')).status).toBe(404)
  })

  test.each(['short', 'x'.repeat(201), ''])('asks again for a password like %j, and stays good', async (password) => {
    const { path } = await linked()
    const { status, text } = await choose(path, password)
    expect([status, text.includes('characters; it must have')]).toEqual([400, true])
    expect((await choose(path, 'long enough')).status).toBe(200)
  })

  test('stands in no log line, and the sign-in is on the record', async () => {
    const { path, id } = await linked()
    await follow(path)
    expect(world.logged.join('')).not.toContain(path.split('/').at(-1)!)
    await choose(path, 'on the record')
    const { stdout } = await run(['audit', 'list', id, '--json'])
    expect(JSON.parse(stdout).map(({ action }: { action: string }) => action)).toContain('auth.login')
  })

  test('is shown with what it is good for', async () => {
    const { stderr } = await run(['users', 'create', 'shown@example.com', '--link'])
    expect(stderr).toBe('Shown once. It works once, within a day.\n')
  })

  test('is no other way in beside a password from a file', async () => {
    expect((await run(['users', 'create', 'x@example.com', '--link', '--from-file', 'x'])).exitCode).toBe(2)
  })
})
