// Both databases: money.
import { describe, expect, test } from 'bun:test'
import { newPurchase, purchaseRows } from '../../src/billing/payments/repository'
import { PAGE_HEADERS } from '../../src/kernel/html'
import { scrub } from '../../src/kernel/text'
import { createTeam } from '../accounts/orgs/team'
import { fakeClock } from '../support/clock'
import { createWorld, operatorCall, type Person } from '../support/world'
import { ownerOf } from './payment-world'

const clock = fakeClock('2026-03-10T12:00:00.000Z')
const world = await createWorld({ clock })
const { store, billing, audit } = world.app.container
const { byHand } = world.app.container.accountBilling
const DAY = 86_400_000
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

async function checkout(person: Person, more: object = {}) {
  const { body } = await person.send('POST', 'billing/checkout', { amount_cents: 500, ...more })
  return { id: body.checkout_id as string, path: new URL(body.checkout_url).pathname }
}
const portalOf = async (person: Person, body: object = {}) =>
  world.send('GET', new URL((await person.send('POST', 'billing/portal', body)).body.portal_url).pathname)
const code = (amountCents: number, validMs = 60_000) =>
  byHand.createCode(operatorCall(), { amountCents, validMs, note: null })
const codeFor = async (amountCents: number, validMs?: number) => (await code(amountCents, validMs)).code
const redeem = (path: string, word: string) =>
  world.send('POST', path, new URLSearchParams({ code: word }).toString(), FORM)
const centsOf = async (person: Person) => (await person.send('GET', 'billing/limits')).body.usage.balance_cents

/** A purchase that was paid so many days ago. */
async function bought(person: Person, cents: number, daysAgo: number, more: object = {}) {
  const at = clock.now() - daysAgo * DAY
  const row = newPurchase(at, { owner: ownerOf(person), kind: 'checkout', provider: 'manual', amount_cents: cents })
  await store.write((tx) => purchaseRows.insert(tx, { ...row, state: 'paid', ended_at: at, ...more }))
}
const rowsIn = (text: string) =>
  [...text.matchAll(/<tr><td>([^<]*)<\/td><td>([^<]*)<\/td><\/tr>/g)].map(([, day, amount]) => `${day} ${amount}`)

describe('the portal of a server without a processor', () => {
  test('lists what was bought, the newest fifty, and what was not paid not at all', async () => {
    const [ada, eve] = [await world.person({ cents: 0 }), await world.person({ cents: 0 })]
    for (let day = 0; day < 52; day++) await bought(ada, 500 + day, 100 - day)
    await bought(ada, 9_999, 0, { state: 'open', ended_at: null })
    await bought(eve, 8_888, 0)
    const rows = rowsIn((await portalOf(ada)).text)
    expect(rows).toHaveLength(50)
    expect(rows[0]).toBe('2026-01-20 5.51 USD')
    expect(rows.at(-1)).toBe('2025-12-02 5.02 USD')
  })

  test('shows the day it was paid, and nothing where nothing was bought', async () => {
    const ada = await world.person({ cents: 0 })
    expect(rowsIn((await portalOf(ada)).text)).toEqual(['None yet '])
    await bought(ada, 500, 3, { ended_at: clock.now() - DAY })
    await bought(ada, 600, 5, { ended_at: null })
    expect(rowsIn((await portalOf(ada)).text)).toEqual(['2026-03-09 5.00 USD', '2026-03-05 6.00 USD'])
  })

  test('shows what new calls can use, and what running calls hold', async () => {
    const ada = await world.person({ cents: 700 })
    const caps = { daily: null, monthly: null }
    const hold = { owner: ownerOf(ada), keyId: null, caps, ref: 'portal.req_hold', amount: 200_000_000 }
    await store.write((tx) => billing.reserve(tx, hold))
    const { text, status, headers } = await portalOf(ada)
    expect(status).toBe(200)
    expect(text).toContain('<p class="sum">5.00 USD</p>')
    expect(text).toContain('2.00 USD is held by calls that are running')
    expect(text).not.toContain('cents')
    expect(text).toContain('<h1>Billing of Person')
    for (const [name, value] of Object.entries(PAGE_HEADERS)) expect(headers.get(name)).toBe(value)
  })

  test('leads back where the caller came from, or nowhere', async () => {
    const ada = await world.person()
    const back = await portalOf(ada, { return_url: 'https://shop.example.com/back' })
    expect(back.text).toContain('<a href="https://shop.example.com/back" rel="noopener noreferrer">Back</a>')
    expect((await portalOf(ada)).text).not.toContain('<a ')
  })

  test('is behind a link that works for an hour, for its owner, on this server', async () => {
    const { body } = await (await world.person({ cents: 0 })).send('POST', 'billing/portal', {})
    const path = new URL(body.portal_url).pathname
    const token = path.split('/').at(-1)!
    expect(token).toStartWith('svc_bp_')
    // What a link says, too: whose it is, and where it leads back to.
    expect(scrub(path)).toBe('/billing/portal/svc_bp_…')
    const changed = `${path.slice(0, -1)}${path.endsWith('0') ? '1' : '0'}`
    for (const other of [changed, scrub(path)]) expect((await world.send('GET', other)).status).toBe(404)
    clock.advance(3_600_000 - 1)
    expect((await world.send('GET', path)).status).toBe(200)
    clock.advance(1)
    const over = await world.send('GET', path)
    expect(over.status).toBe(404)
    expect(over.text).toContain('Nothing here')
    for (const other of ['', 'x', '.', token.split('.')[0]!, `svc_bp_.${token.split('.')[1]}`]) {
      expect((await world.send('GET', `/billing/portal/${other || 'none'}`)).status).toBe(404)
    }
  })

  test('names an organization, or a person, or nobody it does not know', async () => {
    const team = await world.person({ ofOrg: true })
    await bought(team, 500, 1)
    expect((await portalOf(team)).text).toMatch(/<h1>Billing of Org \d+<\/h1>/)
    const { orgs } = world.app.container
    const nameless = await store.write((tx) => orgs.createUser(tx, { email: 'nameless@example.com', name: null }))
    const row = newPurchase(clock.now(), {
      ...{ owner: `user:${nameless.id}`, kind: 'checkout', provider: 'manual', amount_cents: 500 },
    })
    await store.write((tx) => purchaseRows.insert(tx, row))
    expect((await world.send('GET', `/billing/checkout/${row.id}`)).text).toContain('Credit for nameless@example.com')
  })
})

describe('the page of a checkout', () => {
  const HOME = { success_url: 'https://shop.example.com/ok', cancel_url: 'https://shop.example.com/no' }

  test('asks for a code, names the checkout, and leads back without paying', async () => {
    const { id, path } = await checkout(await world.person(), HOME)
    const { status, text, headers } = await world.send('GET', path)
    expect(status).toBe(200)
    expect(text).toContain(`<code>${id}</code>`)
    expect(text).toContain('<input id="code" name="code"')
    expect(text).toContain('<a href="https://shop.example.com/no" rel="noopener noreferrer">Back without paying</a>')
    expect(text).not.toContain('role="alert"')
    expect(text).not.toContain('shop.example.com/ok')
    for (const [name, value] of Object.entries(PAGE_HEADERS)) expect(headers.get(name)).toBe(value)
  })

  test('once paid leads on, and asks for nothing', async () => {
    const { path } = await checkout(await world.person(), HOME)
    const paid = await redeem(path, await codeFor(500))
    expect(paid.status).toBe(303)
    for (const [name, value] of Object.entries(PAGE_HEADERS)) expect(paid.headers.get(name)).toBe(value)
    expect(paid.text).toBe('')
    const { text } = await world.send('GET', path)
    expect(text).toContain('Paid. The credit has been added.')
    expect(text).toContain('<a href="https://shop.example.com/ok" rel="noopener noreferrer">Continue</a>')
    expect(text).not.toContain('<form')
    expect(text).not.toContain('shop.example.com/no')
  })

  test('that has ended says why, and leads back', async () => {
    const team = await world.person({ ofOrg: true })
    const { path } = await checkout(team, HOME)
    expect((await (await world.signedIn(team)).send('DELETE', `orgs/${team.orgId}`)).status).toBe(200)
    // The page names the organization, which is gone.
    const { status, text } = await world.send('GET', path)
    expect({ status, text }).toEqual({ status: 200, text: expect.stringContaining('This checkout is expired.') })
    expect(text).toContain('was deleted. Nothing was charged.')
    expect(text).toContain('<a href="https://shop.example.com/no" rel="noopener noreferrer">Go back</a>')
    expect(text).not.toContain('shop.example.com/ok')
  })

  test('with addresses of none leads nowhere', async () => {
    const { path } = await checkout(await world.person())
    expect((await world.send('GET', path)).text).not.toContain('<a ')
    await redeem(path, await codeFor(500))
    expect((await world.send('GET', path)).text).not.toContain('<a ')
  })

  test.each(['', 'x', 'svc_gc_', `svc_gc_${'a'.repeat(24)}`, `svc_gc_${'a'.repeat(25)}`])(
    'says that the code %p does not work',
    async (word) => {
      const { status, text } = await redeem((await checkout(await world.person())).path, word)
      expect(status).toBe(400)
      expect(text).toContain('This code is unknown, used or expired.')
      expect(text).toContain('role="alert"')
    },
  )

  test('of an automatic top-up is nobody’s to see', async () => {
    const ada = await world.person()
    const input = { owner: ownerOf(ada), kind: 'top_up', provider: 'stripe', amount_cents: 500 } as const
    const row = newPurchase(clock.now(), input)
    await store.write((tx) => purchaseRows.insert(tx, row))
    expect((await world.send('GET', `/billing/checkout/${row.id}`)).status).toBe(404)
  })

  test('with the processor has no field for a code, and says to wait', async () => {
    const ada = await world.person()
    const input = { owner: ownerOf(ada), kind: 'checkout', provider: 'stripe', amount_cents: 500 } as const
    const row = newPurchase(clock.now(), input)
    await store.write((tx) => purchaseRows.insert(tx, row))
    const { text } = await world.send('GET', `/billing/checkout/${row.id}`)
    expect(text).toContain('The payment has not been confirmed yet.')
    expect(text).not.toContain('<form')
    const { status, text: message } = await redeem(`/billing/checkout/${row.id}`, await codeFor(500))
    expect(status).toBe(400)
    expect(message).toContain('The payment processor completes checkout')
    await expect(byHand.complete(operatorCall(), row.id)).rejects.toMatchObject({ code: 'conflict' })
  })
})

describe('codes and checkouts that an operator completes', () => {
  test('a code is of 24 letters and digits, ends when it says, and stands on the record without itself', async () => {
    const made = await code(700, 5_000)
    expect(made.code).toMatch(/^svc_gc_[0-9A-Za-z]{24}$/)
    expect(made.expiresAt).toBe(clock.now() + 5_000)
    const [row] = (await audit.list(store.read, 'server', { limit: 1 })).items
    expect(row).toMatchObject({
      ...{ action: 'credits.code_created', entityType: 'billing', entityId: null },
      inputSummary: { metadata: { amount_cents: 700, expires_at: made.expiresAt } },
    })
    expect(JSON.stringify(row)).not.toContain(made.code)
    const { path } = await checkout(await world.person({ cents: 0 }), { amount_cents: 700 })
    clock.advance(4_999)
    expect((await redeem(path, made.code)).status).toBe(303)
  })

  test('a checkout is completed once, on the record of its owner', async () => {
    const ada = await world.person({ cents: 0 })
    const { id } = await checkout(ada)
    const first = await byHand.complete(operatorCall(), id)
    expect(first).toMatchObject({ already: false, purchase: { id, state: 'paid', ended_at: clock.now(), error: null } })
    expect(await byHand.complete(operatorCall(), id)).toMatchObject({ already: true, purchase: { id, state: 'paid' } })
    expect(await billing.balance(store.read, ownerOf(ada))).toMatchObject({ balance: 500_000_000 })
    const { items } = await audit.list(store.read, ownerOf(ada), { limit: 10 })
    const notices = items.filter(({ action }) => action.startsWith('credits.'))
    expect(notices).toHaveLength(2)
    expect(notices).toMatchObject([
      {
        ...{ action: 'credits.granted', entityType: 'billing', entityId: id },
        inputSummary: { metadata: { amount_cents: 500, checkout: id } },
      },
      {
        ...{ action: 'credits.purchased', entityType: 'billing', entityId: id },
        inputSummary: { metadata: { amount_cents: 500, provider: 'manual', by: 'checkout' } },
      },
    ])
  })
})

describe('a checkout without a processor', () => {
  test('leads to a page that takes a code, once, and then says paid', async () => {
    const ada = await world.person({ cents: 0 })
    const { path } = await checkout(ada, { success_url: 'https://shop.example.com/ok?a=1&b="2"' })
    expect((await world.send('GET', path)).text).toContain('5.00 USD')
    const code = await codeFor(500)
    const answer = await redeem(path, ` ${code} `)
    expect({ status: answer.status, to: answer.headers.get('location') }).toEqual({ status: 303, to: path })
    expect((await world.send('GET', path)).text).toContain('href="https://shop.example.com/ok?a=1&amp;b=&quot;2&quot;"')
    expect(await centsOf(ada)).toBe(500)
    expect((await redeem(path, code)).text).toContain('This checkout is paid.')
    expect((await redeem((await checkout(ada)).path, code)).text).toContain('This code is unknown, used or expired.')
    expect(await centsOf(ada)).toBe(500)
  })

  test('takes one code however often it is sent at once', async () => {
    const ada = await world.person({ cents: 0 })
    const [code, ...checkouts] = [await codeFor(500), await checkout(ada), await checkout(ada), await checkout(ada)]
    const replies = await Promise.all([...checkouts, ...checkouts].map(({ path }) => redeem(path, code)))
    expect(replies.filter(({ status }) => status === 303)).toHaveLength(1)
    expect(await centsOf(ada)).toBe(500)
  })

  test('uses up the code that was sent and no other', async () => {
    const [ada, eve] = [await world.person({ cents: 0 }), await world.person({ cents: 0 })]
    const [first, second] = [await codeFor(500), await codeFor(500)]
    expect((await redeem((await checkout(ada)).path, first)).status).toBe(303)
    expect((await redeem((await checkout(eve)).path, second)).status).toBe(303)
    expect({ ada: await centsOf(ada), eve: await centsOf(eve) }).toEqual({ ada: 500, eve: 500 })
  })

  test('keeps a code of another amount for a checkout that it fits', async () => {
    const ada = await world.person({ cents: 0 })
    const code = await codeFor(900)
    const wrong = await redeem((await checkout(ada)).path, code)
    expect({ status: wrong.status, says: wrong.text.includes('worth 9.00 USD') }).toEqual({ status: 400, says: true })
    expect((await redeem((await checkout(ada, { amount_cents: 900 })).path, code)).status).toBe(303)
  })

  test('of an organization that is deleted meanwhile takes no code and no word of an operator', async () => {
    const team = await createTeam(world)
    await team.owner.send('POST', `orgs/${team.id}/activate`)
    const { id, path } = await checkout(team.owner, { scope: 'org' })
    const code = await codeFor(500)
    expect((await team.owner.send('DELETE', `orgs/${team.id}`)).status).toBe(200)
    expect(await redeem(path, code)).toMatchObject({
      status: 400,
      text: expect.stringContaining('The organization that would receive the credit was deleted. Nothing was added.'),
    })
    await expect(byHand.complete(operatorCall(), id)).rejects.toMatchObject({ code: 'conflict' })
    expect((await world.send('GET', path)).text).not.toContain('<form')
    const { store, billing } = world.app.container
    expect((await billing.balance(store.read, `org:${team.id}`)).balance).toBe(0)
    expect((await redeem((await checkout(await world.person())).path, code)).status).toBe(303)
  })

  test('refuses a code that has ended', async () => {
    const ada = await world.person({ cents: 0 })
    const code = await codeFor(500, 1_000)
    clock.advance(1_000)
    expect((await redeem((await checkout(ada)).path, code)).status).toBe(400)
    expect(await centsOf(ada)).toBe(0)
  })

  test.each(['not-an-id', crypto.randomUUID()])('of the id %p is a page that says there is none', async (id) => {
    for (const reply of [
      await world.send('GET', `/billing/checkout/${id}`),
      await redeem(`/billing/checkout/${id}`, 'x'),
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

  test('take a form and nothing else', async () => {
    const { path } = await checkout(await world.person())
    expect((await world.send('POST', path, '<x/>', { 'content-type': 'text/xml', 'content-length': '4' })).status).toBe(
      415,
    )
    expect((await redeem(path, 'x'.repeat(5_000))).status).toBe(413)
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
