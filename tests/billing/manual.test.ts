// Both databases: money.
import { describe, expect, test } from 'bun:test'
import { scrub } from '../../src/kernel/text'
import { createTeam } from '../accounts/orgs/team'
import { fakeClock } from '../support/clock'
import { createWorld, operatorCall, type Person } from '../support/world'

const clock = fakeClock()
const world = await createWorld({ clock })
const { byHand } = world.app.container.accountBilling
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

const codeFor = async (amountCents: number, validMs = 60_000) =>
  (await byHand.createCode(operatorCall(), { amountCents, validMs, note: null })).code
const centsOf = async (person: Person) => (await person.send('GET', 'billing/limits')).body.usage.balance_cents
const post = (path: string, code: string) => world.send('POST', path, new URLSearchParams({ code }).toString(), FORM)

async function checkout(person: Person, more: object = {}) {
  const { body } = await person.send('POST', 'billing/checkout', { amount_cents: 500, ...more })
  return { id: body.checkout_id as string, path: new URL(body.checkout_url).pathname }
}

describe('a checkout without a processor', () => {
  test('leads to a page that takes a code, once, and then says paid', async () => {
    const ada = await world.person({ cents: 0 })
    const { path } = await checkout(ada, { success_url: 'https://shop.example.com/ok?a=1&b="2"' })
    expect((await world.send('GET', path)).text).toContain('5.00 USD')
    const code = await codeFor(500)
    const answer = await post(path, ` ${code} `)
    expect({ status: answer.status, to: answer.headers.get('location') }).toEqual({ status: 303, to: path })
    expect((await world.send('GET', path)).text).toContain('href="https://shop.example.com/ok?a=1&amp;b=&quot;2&quot;"')
    expect(await centsOf(ada)).toBe(500)
    expect((await post(path, code)).text).toContain('This checkout is paid.')
    expect((await post((await checkout(ada)).path, code)).text).toContain('This code is unknown, used or expired.')
    expect(await centsOf(ada)).toBe(500)
  })

  test('takes one code however often it is sent at once', async () => {
    const ada = await world.person({ cents: 0 })
    const [code, ...checkouts] = [await codeFor(500), await checkout(ada), await checkout(ada), await checkout(ada)]
    const replies = await Promise.all([...checkouts, ...checkouts].map(({ path }) => post(path, code)))
    expect(replies.filter(({ status }) => status === 303)).toHaveLength(1)
    expect(await centsOf(ada)).toBe(500)
  })

  test('uses up the code that was sent and no other', async () => {
    const [ada, eve] = [await world.person({ cents: 0 }), await world.person({ cents: 0 })]
    const [first, second] = [await codeFor(500), await codeFor(500)]
    expect((await post((await checkout(ada)).path, first)).status).toBe(303)
    expect((await post((await checkout(eve)).path, second)).status).toBe(303)
    expect({ ada: await centsOf(ada), eve: await centsOf(eve) }).toEqual({ ada: 500, eve: 500 })
  })

  test('keeps a code of another amount for a checkout that it fits', async () => {
    const ada = await world.person({ cents: 0 })
    const code = await codeFor(900)
    const wrong = await post((await checkout(ada)).path, code)
    expect({ status: wrong.status, says: wrong.text.includes('worth 9.00 USD') }).toEqual({ status: 400, says: true })
    expect((await post((await checkout(ada, { amount_cents: 900 })).path, code)).status).toBe(303)
  })

  test('of an organization that is deleted meanwhile takes no code and no word of an operator', async () => {
    const team = await createTeam(world)
    await team.owner.send('POST', `orgs/${team.id}/activate`)
    const { id, path } = await checkout(team.owner, { scope: 'org' })
    const code = await codeFor(500)
    expect((await team.owner.send('DELETE', `orgs/${team.id}`)).status).toBe(200)
    expect(await post(path, code)).toMatchObject({
      status: 400,
      text: expect.stringContaining('The organization that would receive the credit was deleted. Nothing was added.'),
    })
    await expect(byHand.complete(operatorCall(), id)).rejects.toMatchObject({ code: 'conflict' })
    expect((await world.send('GET', path)).text).not.toContain('<form')
    const { store, billing } = world.app.container
    expect((await billing.balance(store.read, `org:${team.id}`)).balance).toBe(0)
    expect((await post((await checkout(await world.person())).path, code)).status).toBe(303)
  })

  test('refuses a code that has ended', async () => {
    const ada = await world.person({ cents: 0 })
    const code = await codeFor(500, 1_000)
    clock.advance(1_000)
    expect((await post((await checkout(ada)).path, code)).status).toBe(400)
    expect(await centsOf(ada)).toBe(0)
  })

  test.each(['not-an-id', crypto.randomUUID()])('of the id %p is a page that says there is none', async (id) => {
    for (const reply of [
      await world.send('GET', `/billing/checkout/${id}`),
      await post(`/billing/checkout/${id}`, 'x'),
    ]) {
      expect(reply.status).toBe(404)
      expect(reply.text).toContain('Nothing here')
    }
  })
})

describe('the pages', () => {
  test('run nothing, load nothing, frame nowhere and send only home', async () => {
    const { headers, text } = await world.send('GET', (await checkout(await world.person())).path)
    const policy = headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("form-action 'self'")
    expect(policy).not.toContain('unsafe')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(text).not.toMatch(/<script|onload=|style="|src=/)
  })

  test('show what people called themselves as text (F11)', async () => {
    const { store, orgs } = world.app.container
    const made = await world.person({ ofOrg: true })
    const name = '<img src=x onerror=alert(1)>"\'&'
    await made.send('PATCH', `orgs/${made.orgId}`, { name })
    expect((await orgs.find(store.read, made.orgId!)).name).toBe(name)
    const { text } = await world.send('GET', (await checkout(made)).path)
    expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;')
    expect(text).not.toContain('<img')
  })

  test('of the portal show balance and purchases behind a link that ends', async () => {
    const ada = await world.person({ cents: 0 })
    await post((await checkout(ada)).path, await codeFor(500))
    const { body } = await ada.send('POST', 'billing/portal', { return_url: 'https://shop.example.com/back' })
    const path = new URL(body.portal_url).pathname
    const shown = await world.send('GET', path)
    expect(shown.text).toContain('<p class="sum">5.00 USD</p>')
    expect(shown.text).toContain('0.00 USD is held')
    expect(shown.text).not.toContain('cents')
    expect((await world.send('GET', `${path.slice(0, -1)}${path.endsWith('0') ? '1' : '0'}`)).status).toBe(404)
    const logged = scrub(path)
    // What a link says, too: whose it is, and where it leads back to.
    expect(logged).toBe('/billing/portal/svc_bp_…')
    expect((await world.send('GET', logged)).status).toBe(404)
    clock.advance(3_600_000)
    expect((await world.send('GET', path)).status).toBe(404)
  })

  test('take a form and nothing else', async () => {
    const { path } = await checkout(await world.person())
    expect((await world.send('POST', path, '<x/>', { 'content-type': 'text/xml', 'content-length': '4' })).status).toBe(
      415,
    )
    expect((await post(path, 'x'.repeat(5_000))).status).toBe(413)
  })
})

test('without a processor nobody can sign an event', async () => {
  const { status, body } = await world.send(
    'POST',
    'billing/webhook',
    { id: 'evt_1' },
    { 'stripe-signature': 't=1,v1=0' },
  )
  expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'validation_error' })
})
