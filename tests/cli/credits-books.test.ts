// SQLite only: a client of routes that tests of their modules call on both.
import { describe, expect, test } from 'bun:test'
import { cliOver } from '../support/cli'
import { createWorld } from '../support/world'

const world = await createWorld()
const run = cliOver(world)
const ada = await world.person({ cents: 0 })
const why = ['--reason', 'test']

const { json } = run
const available = async () => (await json(`credits balance ${ada.userId}`)).available_cents

describe('credits adjust', () => {
  test('takes away and adds, once for each idempotency key', async () => {
    await json(['credits', 'grant', ada.userId, '10.00', ...why])
    const line = ['credits', 'adjust', ada.userId, '-2.50', ...why, '-y', '--idempotency-key', 'fix-1']
    expect(await json(line)).toMatchObject({ object: 'credit_adjustment', amount_cents: -250, available_cents: 750 })
    expect(await json(line)).toMatchObject({ already: true, available_cents: 750 })
    expect((await json(['credits', 'adjust', ada.userId, '+50c', ...why, '-y'])).available_cents).toBe(800)
  })

  test('takes cents away, wherever the flags stand', async () => {
    const eve = await world.person({ cents: 0 })
    const around = [
      ['credits', 'adjust', eve.userId, '-500c', ...why, '-y'],
      ['credits', 'adjust', ...why, '-y', eve.userId, '-500c'],
      ['credits', 'adjust', '-y', eve.userId, '-500c', '--note', '-200c', ...why],
    ]
    await json(['credits', 'grant', eve.userId, '15.00', ...why])
    for (const line of around) expect((await json(line)).amount_cents).toBe(-500)
    const [newest] = await json(`credits ledger ${eve.userId}`)
    expect(newest.note).toBe('-200c')
    expect((await run(['credits', 'adjust', eve.userId, '-500x', ...why, '-y'])).exitCode).toBe(2)
  })

  test('never takes more than is available', async () => {
    const { exitCode, stderr } = await run(['credits', 'adjust', ada.userId, '-8.01', ...why, '-y'])
    expect(exitCode).toBe(5)
    expect(stderr).toContain('only 800.00 cents are available')
  })

  test.each([['5'], ['-5'], ['--5.00'], ['five']])('refuses %p, which does not say what it is', async (amount) => {
    expect((await run(['credits', 'adjust', ada.userId, amount, ...why, '-y'])).exitCode).toBe(2)
  })
})

describe('credits ledger', () => {
  test('shows every movement, newest first, with the balance after it', async () => {
    const rows = await json(`credits ledger ${ada.userId}`)
    expect(
      rows.map(({ kind, amount_cents, balance_cents }: Record<string, unknown>) => [kind, amount_cents, balance_cents]),
    ).toEqual([
      ['adjust', 50, 800],
      ['adjust', -250, 750],
      ['grant', 1_000, 1_000],
    ])
  })

  test('goes on where a page ended, with the balance it had there', async () => {
    const first = await run(`credits ledger ${ada.userId} --limit 1 --json`)
    const cursor = /--cursor (\S+),/.exec(first.stderr)![1]!
    await json(['credits', 'grant', ada.userId, '1.00', ...why])
    const [next] = await json(['credits', 'ledger', ada.userId, '--limit', '1', '--cursor', cursor])
    expect(next).toMatchObject({ amount_cents: -250, balance_cents: 750 })
    expect(await json(`credits ledger ${ada.userId} --limit 1 --all`)).toHaveLength(4)
  })
})

describe('checkouts that no processor completes', () => {
  test('an operator does, once', async () => {
    const { body } = await ada.send('POST', 'billing/checkout', { amount_cents: 700 })
    const before = await available()
    const line = ['credits', 'grant', '--checkout', body.checkout_id, ...why]
    expect(await json(line)).toMatchObject({ amount_cents: 700, already: false, available_cents: before + 700 })
    expect(await json(line)).toMatchObject({ already: true, available_cents: before + 700 })
  })

  test('a code is shown once and not kept', async () => {
    const { code } = await json(['credits', 'code', '7.00', ...why])
    expect(code).toMatch(/^svc_gc_[0-9A-Za-z]{24}$/)
    expect(world.logged.join('\n')).not.toContain(code)
  })

  test.each([
    ['nothing', ['credits', 'grant', ...why], 2],
    ['an unknown checkout', ['credits', 'grant', '--checkout', crypto.randomUUID(), ...why], 3],
    ['a checkout that is not an id', ['credits', 'grant', '--checkout', 'x', ...why], 3],
  ])('%s is refused', async (_what, line, exitCode) => {
    expect((await run(line)).exitCode).toBe(exitCode)
  })
})

test('an idempotency key is of one owner and one amount, for grants and for corrections', async () => {
  const eve = await world.person()
  for (const [verb, sign] of [
    ['grant', ''],
    ['adjust', '+'],
  ] as const) {
    const send = (owner: string, amount: string) =>
      run(['credits', verb, owner, `${sign}${amount}`, '--idempotency-key', 'order-7', '-y', ...why])
    expect((await send(ada.userId, '5.00')).exitCode).toBe(0)
    expect((await send(ada.userId, '5.00')).exitCode).toBe(0)
    expect(await send(ada.userId, '6.00')).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('order-7') })
    expect((await send(eve.userId, '5.00')).exitCode).toBe(5)
  }
})

test('credits caps are set and removed by an operator, on the record', async () => {
  expect(await json(['credits', 'caps', ada.userId, '--daily', '1.00', ...why])).toMatchObject({ daily_cap_cents: 100 })
  expect(await json(['credits', 'caps', ada.userId, '--daily', 'none', ...why])).toMatchObject({
    daily_cap_cents: null,
  })
  expect((await run(`credits caps ${ada.userId}`)).exitCode).toBe(2)
  const { items } = await world.app.container.audit.list(world.app.store.read, `user:${ada.userId}`, { limit: 1 })
  expect(items[0]).toMatchObject({ action: 'billing.limits_updated', inputSummary: { fields: ['daily_cap_cents'] } })
})

test('and the books hold', async () => {
  expect(await world.app.container.billing.verify(world.app.store.read)).toEqual([])
})
