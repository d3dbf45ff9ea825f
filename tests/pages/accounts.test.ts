import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { apiKeys } from '../../src/accounts/keys/table'
import { users } from '../../src/accounts/orgs/table'
import { createWorld } from '../support/world'

const world = await createWorld({ config: { signup: 'open', publicUrl: 'http://localhost' } })
const PASSWORD = 'correct horse battery'

type Sent = { fields?: Record<string, string>; cookie?: string; site?: string }
async function open(path: string, { fields, cookie, site = 'same-origin' }: Sent = {}) {
  const response = await world.app.api.handle(
    new Request(`http://localhost${path}`, {
      method: fields ? 'POST' : 'GET',
      headers: {
        'sec-fetch-site': site,
        ...(fields ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
        ...(cookie ? { cookie } : {}),
      },
      ...(fields ? { body: new URLSearchParams(fields).toString() } : {}),
    }),
  )
  const set = response.headers.get('set-cookie')
  return {
    status: response.status,
    to: response.headers.get('location'),
    text: await response.text(),
    set,
    headers: response.headers,
  }
}
const cookieOf = (set: string | null) => set!.split(';')[0]!

let people = 0
async function signedUp() {
  const email = `pages${++people}@example.com`
  const made = await open('/sign-up', { fields: { email, password: PASSWORD } })
  expect({ status: made.status, to: made.to }).toEqual({ status: 303, to: '/console' })
  return { email, cookie: cookieOf(made.set) }
}

describe('accounts in a browser, without a script', () => {
  test('sign up, home, sign out, and sign in again', async () => {
    const { email, cookie } = await signedUp()
    const home = await open('/home', { cookie })
    expect(home.status).toBe(200)
    expect(home.text).toContain(email)
    expect(home.text).not.toContain('<script')
    expect(home.text).toContain('href="/docs/playground"')
    expect(home.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")

    const out = await open('/sign-out', { fields: {}, cookie })
    expect({ status: out.status, to: out.to }).toEqual({ status: 303, to: '/sign-in' })
    expect(out.set).toContain('Max-Age=0')
    expect((await open('/home', { cookie })).to).toBe('/sign-in')

    const wrong = await open('/sign-in', { fields: { email, password: 'not it' } })
    expect({ status: wrong.status, set: wrong.set }).toEqual({ status: 401, set: null })
    expect(wrong.text).toContain('role="alert"')
    const back = await open('/sign-in', { fields: { email, password: PASSWORD, next: '/operator' } })
    expect({ status: back.status, to: back.to }).toEqual({ status: 303, to: '/operator' })
    expect(back.set).toMatch(/HttpOnly; SameSite=Strict/)
    expect((await open('/sign-in', { cookie: cookieOf(back.set) })).to).toBe('/console')
  })

  test.each(['//evil.example.com', 'https://evil.example.com', '/\\evil.example.com', 'javascript:1', '/a?b', ''])(
    'after the sign-in nobody is sent to %p',
    async (next) => {
      const { email } = await signedUp()
      expect((await open('/sign-in', { fields: { email, password: PASSWORD, next } })).to).toBe('/console')
    },
  )

  test('who is signed in and comes by a link of another site, which brings no cookie, is let in at the second step', async () => {
    const { cookie } = await signedUp()
    const request = await open('/operator', { site: 'cross-site' })
    expect(request.to).toBe('/sign-in?next=/operator')
    const first = await open(request.to!, { site: 'cross-site' })
    expect(first.status).toBe(200)
    expect(first.headers.get('refresh')).toBe('0; url=/sign-in?next=/operator')
    expect(first.text).toContain('href="/sign-in?next=/operator"')
    expect((await open('/sign-in?next=/operator', { cookie })).to).toBe('/operator')
    expect((await open('/sign-in?next=/operator')).text).toContain('name="password"')
  })

  test('a form of another site does nothing', async () => {
    const { email, cookie } = await signedUp()
    for (const site of ['cross-site', 'same-site', 'none']) {
      for (const path of ['/sign-out', '/home/keys', '/home/keys/x/rotate', '/home/keys/x/revoke', '/home/widgets'])
        expect((await open(path, { fields: { name: 'x' }, cookie, site })).status).toBe(403)
      expect((await open('/sign-in', { fields: { email, password: PASSWORD }, site })).status).toBe(403)
    }
    expect((await open('/home', { cookie, site: 'cross-site' })).status).toBe(200)
  })

  test('what people typed comes back as text', async () => {
    const evil = '"><img src=x>'
    const refused = await open('/sign-in', { fields: { email: evil, password: 'x' } })
    expect(refused.text).toContain('&quot;&gt;&lt;img src=x&gt;')
    expect(refused.text).not.toContain('<img')
    expect((await open('/sign-up', { fields: { email: evil, password: PASSWORD } })).status).toBe(400)
  })

  test('a key is made by its form, shown once, and listed without its secret', async () => {
    const { cookie } = await signedUp()
    const made = await open('/home/keys', { fields: { name: 'Lamps <b>' }, cookie })
    const key = /svc_sk_[\w]+/.exec(made.text)?.[0]
    expect(made.text).toContain('Lamps &lt;b&gt;')
    expect((await world.send('GET', 'usage', undefined, { authorization: `Bearer ${key}` })).status).toBe(200)
    expect((await open('/home', { cookie })).text).not.toContain(key!)
  })

  test('the home page leads to keys past the newest hundred', async () => {
    const { cookie, email } = await signedUp()
    const { store } = world.app
    await open('/home/keys', { fields: { name: 'Oldest' }, cookie })
    await store.write(async (tx) => {
      const t = tx.of(apiKeys)
      const [{ id: userId } = { id: '' }] = await tx
        .select({ id: tx.of(users).id })
        .from(tx.of(users))
        .where(eq(tx.of(users).email, email))
      const [oldest] = await tx
        .select()
        .from(t)
        .where(eq(t.user_id, userId as never))
      const more = Array.from({ length: 100 }, (_, n) => {
        const created_at = oldest!.created_at + 1_000 + n
        return { ...oldest!, id: crypto.randomUUID() as never, name: `Key ${n}`, created_at }
      })
      await tx.insert(t).values(more)
    })
    const newest = await open('/home', { cookie })
    expect(newest.text).toContain('Key 99')
    expect(newest.text).not.toContain('>Oldest<')
    const older = await open(/href="(\/home\?older=[\w-]+)"/.exec(newest.text)![1]!, { cookie })
    expect(older.text.match(/<option value="[^"]+">Oldest/g)).toHaveLength(1)
    expect(older.text).not.toContain('Key 99')
    expect(older.text).toContain('>Newest keys</a>')
    expect((await open('/home?older=nonsense', { cookie })).status).toBe(400)
  })

  test('a key is rotated and revoked by its page, and by nobody else', async () => {
    const [{ cookie }, stranger] = [await signedUp(), await signedUp()]
    const keyIn = (text: string) => /svc_sk_[\w]{20,}/.exec(text)?.[0]
    const works = async (key = '') =>
      (await world.send('GET', 'usage', undefined, { authorization: `Bearer ${key}` })).status === 200
    const first = keyIn((await open('/home/keys', { fields: { name: 'Lamps' }, cookie })).text)
    const path = /href="(\/home\/keys\/[\w-]+)"/.exec((await open('/home', { cookie })).text)![1]!
    expect((await open(path, { cookie })).text).toContain('This cannot be undone.')
    for (const [verb, fields] of [
      ['', undefined],
      ['/rotate', { grace: '0' }],
      ['/revoke', { sure: 'yes' }],
    ] as const)
      expect((await open(path + verb, { cookie: stranger.cookie, ...(fields && { fields }) })).status).toBe(404)
    const rotated = await open(`${path}/rotate`, { fields: { grace: '0' }, cookie })
    const second = keyIn(rotated.text)
    expect({ first: await works(first), second: await works(second) }).toEqual({ first: false, second: true })
    expect((await open('/home', { cookie })).text).not.toContain(second!)
    expect((await open(`${path}/revoke`, { fields: { sure: 'yes' }, cookie })).text).toContain('was revoked.')
    expect(await works(second)).toBe(false)
    expect((await open(`${path}/rotate`, { fields: { grace: '0' }, cookie })).status).toBe(409)
  })

  test('a key is no way into a page, and without a session every page leads to the sign-in', async () => {
    const person = await world.person()
    const request = await world.app.api.handle(
      new Request('http://localhost/home', { headers: { authorization: `Bearer ${person.key}` } }),
    )
    expect(request.status).toBe(303)
    expect(request.headers.get('location')).toBe('/sign-in')
    expect((await open('/home', { cookie: 'svc_session=svc_ds_none' })).to).toBe('/sign-in')
  })
})
