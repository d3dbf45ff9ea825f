import { describe, expect, test } from 'bun:test'
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
  test('sign up, console, sign out, and sign in again', async () => {
    const { email, cookie } = await signedUp()
    const console = await open('/console/me', { cookie })
    expect(console.status).toBe(200)
    expect(console.text).toContain(email)
    expect(console.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")

    const out = await open('/sign-out', { fields: {}, cookie })
    expect({ status: out.status, to: out.to }).toEqual({ status: 303, to: '/console/sign-in' })
    expect(out.set).toContain('Max-Age=0')
    expect((await open('/console/me', { cookie })).to).toBe('/console/sign-in?to=/console/me')

    const wrong = await open('/sign-in', { fields: { email, password: 'not it' } })
    expect({ status: wrong.status, set: wrong.set }).toEqual({ status: 401, set: null })
    expect(wrong.text).toContain('role="alert"')
    const back = await open('/sign-in', { fields: { email, password: PASSWORD, next: '/console/inbox' } })
    expect({ status: back.status, to: back.to }).toEqual({ status: 303, to: '/console/inbox' })
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
    const request = await open('/console/inbox', { site: 'cross-site' })
    expect(request.to).toBe('/console/sign-in?to=/console/inbox')
    const first = await open(request.to!, { site: 'cross-site' })
    expect(first.status).toBe(200)
    expect(first.headers.get('refresh')).toBe('0; url=/console/sign-in?to=/console/inbox')
    expect(first.text).toContain('href="/console/sign-in?to=/console/inbox"')
    expect((await open('/console/sign-in?to=/console/inbox', { cookie })).to).toBe('/console/inbox')
    expect((await open('/console/sign-in?to=/console/inbox')).text).toContain('name="password"')
  })

  test('a form of another site does nothing', async () => {
    const { email, cookie } = await signedUp()
    for (const site of ['cross-site', 'same-site', 'none']) {
      expect((await open('/sign-out', { fields: { name: 'x' }, cookie, site })).status).toBe(403)
      expect((await open('/sign-in', { fields: { email, password: PASSWORD }, site })).status).toBe(403)
    }
    expect((await open('/console/me', { cookie, site: 'cross-site' })).status).toBe(200)
  })

  test('what people typed comes back as text', async () => {
    const evil = '"><img src=x>'
    const refused = await open('/sign-in', { fields: { email: evil, password: 'x' } })
    expect(refused.text).toContain('&quot;&gt;&lt;img src=x&gt;')
    expect(refused.text).not.toContain('<img')
    expect((await open('/sign-up', { fields: { email: evil, password: PASSWORD } })).status).toBe(400)
  })

  test.each([
    ['/home', '/console'],
    ['/home/password', '/console/settings'],
    ['/operator', '/console/inbox'],
    ['/docs/playground', '/console/playground'],
    ['/docs/console', '/docs'],
  ])('%s moved for good, with a person or without', async (from, to) => {
    const { status, to: found } = await open(from)
    expect({ status, found }).toEqual({ status: 308, found: to })
  })

  test('a link that names no owner leads to the organization that the person works for', async () => {
    const { cookie } = await signedUp()
    const { status, to } = await open('/console/inbox?state=waiting', { cookie })
    expect({ status, to }).toEqual({ status: 303, to: '/console/me/inbox?state=waiting' })
    expect((await open('/console/inbox')).to).toBe('/console/sign-in?to=/console/inbox')
  })

  test('a key is no way into a page, and without a session every page leads to the sign-in', async () => {
    const person = await world.person()
    const request = await world.app.api.handle(
      new Request('http://localhost/console', { headers: { authorization: `Bearer ${person.key}` } }),
    )
    expect(request.status).toBe(303)
    expect(request.headers.get('location')).toBe('/console/sign-in?to=/console')
    expect((await open('/console', { cookie: 'svc_session=svc_ds_none' })).to).toBe('/console/sign-in?to=/console')
  })
})
