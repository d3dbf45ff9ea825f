import { describe, expect, test } from 'bun:test'
import { createWorld, operatorCall } from '../support/world'

const world = await createWorld({ config: { publicUrl: '' } })
const { byHand } = world.app.container.moneyDesk
const pathOf = (url: string) => new URL(url).pathname
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const codeFor = async (amountCents: number, forMs = 60_000) =>
  (await byHand.createCode(operatorCall(), { amountCents, forMs, note: null })).code
const balanceOf = async (person: Awaited<ReturnType<typeof world.person>>) =>
  (await person.send('GET', 'billing/limits')).body.usage.balance_cents

async function checkout(person: Awaited<ReturnType<typeof world.person>>, more: object = {}) {
  const { status, body } = await person.send('POST', 'billing/checkout', { amount_cents: 500, ...more })
  expect(status).toBe(200)
  return { ...body, path: pathOf(body.checkout_url) }
}

describe('a checkout without a processor', () => {
  test('leads to a page that takes a code, once, and then says paid', async () => {
    const ada = await world.person({ cents: 0 })
    const { path } = await checkout(ada, { success_url: 'https://shop.example.com/ok?a=1&b="2"' })
    const before = await world.send('GET', path)
    expect(before.status).toBe(200)
    expect(before.text).toContain('5.00 USD')
    const code = await codeFor(500)
    const answer = await world.send('POST', path, `code=${code}`, form)
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe(path)
    expect((await world.send('GET', path)).text).toContain('href="https://shop.example.com/ok?a=1&amp;b=&quot;2&quot;"')
    expect(await balanceOf(ada)).toBe(500)
    const again = await world.send('POST', path, `code=${code}`, form)
    expect(again.status).toBe(400)
    expect(await balanceOf(ada)).toBe(500)
  })
})
