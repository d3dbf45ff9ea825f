import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { wallets } from '../../src/billing/table'
import type { KeyId } from '../../src/kernel/ids'
import { cliOver } from '../support/cli'
import { createWorld, type Person } from '../support/world'

const world = await createWorld()
const run = cliOver(world)
const { store, billing, usage } = world.app.container
const why = ['--reason', 'test', '-y']

const edit = (owner: string, change: { balance?: number; held?: number }) =>
  store.write((tx) =>
    tx
      .update(tx.of(wallets))
      .set(change)
      .where(eq(tx.of(wallets).id, owner as never)),
  )
const found = async (line: string[] = []) => {
  const { stdout, exitCode, stderr } = await run(['credits', 'reconcile', ...line, '--json'])
  return { exitCode, stderr, rows: stdout ? JSON.parse(stdout) : null }
}

/** One call of a person's that cost something. */
const spend = async ({ userId, keyId }: Person, ref: string, cents: number) => {
  const [owner, amount] = [`user:${userId}` as const, cents * 1_000_000]
  const who = { owner, keyId: keyId as KeyId }
  const hold = { ...who, caps: { daily: null, monthly: null }, ref, amount }
  const call = {
    requestId: ref,
    endpoint: '/completions',
    mode: 'fast',
    resolvedMode: 'fast',
    model: null,
    status: 200,
  }
  const used = { promptTokens: 1, completionTokens: 1, cached: false, latencyMs: 1, ttftMs: null, fallbackUsed: false }
  await store.write(async (tx) => {
    await billing.settleApart(tx, (await billing.reserve(tx, hold))!, amount)
    await usage.record(tx, { ...who, userId, ...call, ...used, costMicro: amount })
  })
}

describe('credits reconcile', () => {
  test('finds nothing in honest books', async () => {
    await (await world.person({ cents: 100 })).send('POST', 'completions', { prompt: 'hi' })
    expect(await found()).toMatchObject({ exitCode: 0, rows: [] })
  })

  test('lists a wallet that somebody edited, exits 9 and changes nothing', async () => {
    const ada = await world.person({ cents: 100 })
    const id = `user:${ada.userId}`
    await edit(id, { balance: 999_000_000, held: 5_000_000 })
    const wanted = { id, balance_cents: 999, ledger_cents: 100, held_cents: 5, open_cents: 0, applied: false }
    for (const line of [[], ['--apply', '--dry-run', ...why]]) expect((await found(line)).rows).toEqual([wanted])
    expect((await found()).exitCode).toBe(9)
    expect(await billing.balance(store.read, id as never)).toMatchObject({ balance: 999_000_000 })

    const { exitCode, rows } = await found(['--apply', ...why])
    expect({ exitCode, rows }).toEqual({ exitCode: 0, rows: [{ ...wanted, applied: true }] })
    expect(await billing.balance(store.read, id as never)).toEqual({
      balance: 100_000_000,
      held: 0,
      available: 100_000_000,
    })
    expect((await found()).rows).toEqual([])
    expect(await billing.verify(store.read)).toEqual([])
    const [event] = (await ada.send('GET', 'audit?action=credits.reconciled')).body
    expect(event.inputSummary).toMatchObject({
      metadata: { balance_cents: 999, ledger_cents: 100, held_cents: 5, open_cents: 0 },
      operator: { reason: 'test' },
    })
  })

  test('makes the wallet that a ledger is about and nobody has', async () => {
    const ada = await world.person({ cents: 100 })
    const t = store.read.of(wallets)
    await store.write((tx) => tx.delete(tx.of(wallets)).where(eq(t.id, `user:${ada.userId}`)))
    const { rows } = await found(['--apply', ...why])
    expect(rows).toMatchObject([{ balance_cents: null, ledger_cents: 100, applied: true }])
    expect((await ada.send('GET', 'usage')).body.balance.balance_cents).toBe(100)
  })

  test('leaves to a person what no wallet can hold, and goes on saying so', async () => {
    const ada = await world.person({ cents: 100 })
    const id = `user:${ada.userId}` as const
    const hold = { owner: id, keyId: null, caps: { daily: null, monthly: null }, ref: 'r1', amount: 90_000_000 }
    await store.write((tx) => billing.reserve(tx, hold))
    await store.write((tx) => billing.adjust(tx, { owner: id, amount: -10_000_000, ref: 'a1', note: null }))
    await edit(id, { balance: 200_000_000 })
    await store.write((tx) => billing.adjust(tx, { owner: id, amount: -50_000_000, ref: 'a2', note: null }))
    const { exitCode, rows } = await found(['--apply', ...why])
    expect({ exitCode, rows }).toMatchObject({
      exitCode: 9,
      rows: [{ ledger_cents: 40, open_cents: 90, applied: false }],
    })
  })

  test('asks for a reason and a confirmation', async () => {
    const ada = await world.person({ cents: 100 })
    await edit(`user:${ada.userId}`, { balance: 1 })
    expect((await found(['--apply'])).exitCode).toBe(2)
    expect((await found(['--apply', '--reason', 'test'])).exitCode).toBe(2)
    await edit(`user:${ada.userId}`, { balance: 100_000_000 })
  })
})

describe('credits balance and ledger', () => {
  test('tell how long the credit lasts, over either API', async () => {
    const ada = await world.person({ cents: 100 })
    const balance = async (line: string[], options = {}) =>
      JSON.parse((await run(['credits', 'balance', ...line, '--json'], options)).stdout)
    expect(await balance([ada.userId])).toMatchObject({ available_cents: 100, daily_cap_cents: null, days_left: null })
    await spend(ada, 'r.req_days', 14)
    await run(['credits', 'caps', 'set', ada.userId, '--daily', '5.00'])
    const after = await balance([ada.userId])
    expect(after).toMatchObject({ daily_cap_cents: 500, monthly_cap_cents: null })
    // Two cents a day of the 86 that are left.
    expect(after.days_left).toBe(43)
    const { days_left, balance_cents, available_cents } = after
    expect(await balance([], { key: ada.key })).toMatchObject({ days_left, balance_cents, available_cents })
  })

  test('--ref finds the rows of one request, with the balance they left', async () => {
    const ada = await world.person({ cents: 100 })
    await spend(ada, 'r.req_one', 10)
    await spend(ada, 'r.req_two', 20)
    const ledger = async (line: string[]) =>
      JSON.parse((await run(['credits', 'ledger', ada.userId, ...line, '--json'])).stdout)
    const [row, ...others] = await ledger(['--ref', 'req_one'])
    expect(others).toEqual([])
    expect(row).toMatchObject({ amount_cents: -10, balance_cents: 90 })
    expect(row).toEqual((await ledger([])).find(({ id }: { id: number }) => id === row.id))
    expect(await ledger(['--ref', 'req_nobody'])).toEqual([])
  })
})
