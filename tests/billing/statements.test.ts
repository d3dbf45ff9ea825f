import { expect, test } from 'bun:test'
import { refOf } from '../../src/billing/schema'
import type { KeyId } from '../../src/kernel/ids'
import { createWorld, type Person } from '../support/world'

const world = await createWorld()
const { store, billing } = world.app.container
type Entry = { id: number; kind: string; amount_cents: number; balance_cents: number; reference: object | null }

/** Charges some cents for a request. */
const charge = (person: Person, requestId: string, cents: number) =>
  store.write(async (tx) => {
    const payer = {
      owner: `user:${person.userId}`,
      keyId: person.keyId as KeyId,
      caps: { daily: null, monthly: null },
    } as const
    const hold = await billing.reserve(tx, { ...payer, ref: refOf(requestId, Date.now()), amount: cents * 1e6 })
    await billing.settleApart(tx, hold!, cents * 1e6)
  })

test('the ledger, its export and the statement of the month are one truth', async () => {
  const ada = await world.person({ cents: 500 })
  for (const cents of [1, 2.5, 4]) await charge(ada, `req_${cents}`, cents)
  const { status, body } = await ada.send('GET', 'billing/ledger?limit=2')
  expect(status).toBe(200)
  const rest = (await ada.send('GET', `billing/ledger${body.next_cursor ? `?cursor=${body.next_cursor}` : ''}`)).body
  const entries: Entry[] = body.next_cursor ? [...body.entries, ...rest.entries] : body.entries
  const { balance } = (await ada.send('GET', 'usage')).body
  expect(entries[0]!.balance_cents).toBe(balance.balance_cents)
  const sum = entries.reduce((total, { amount_cents }: { amount_cents: number }) => total + amount_cents, 0)
  expect(sum).toBeCloseTo(balance.balance_cents, 6)
  expect((await ada.send('GET', 'billing/ledger/export')).text.trim().split('\r\n').length).toBe(entries.length + 1)
  expect((await ada.send('GET', 'billing/ledger/export?format=json')).body.entries).toEqual(entries)
  const month = new Date().toISOString().slice(0, 7)
  const statement = (await ada.send('GET', `billing/statements/${month}`)).body
  const of = (kind: string) => entries.filter((entry) => entry.kind === kind)
  const kinds = [...new Set(entries.map(({ kind }) => kind))]
  expect({ opening: statement.opening_cents, closing: statement.closing_cents }).toEqual({
    opening: 0,
    closing: balance.balance_cents,
  })
  expect(Object.keys(statement.entries_by_kind).sort()).toEqual(kinds.sort())
  for (const kind of kinds) {
    const listed = (await ada.send('GET', `billing/ledger?kind=${kind}`)).body.entries
    expect({ kind, listed }).toEqual({ kind, listed: of(kind) })
    expect({ kind, entries: statement.entries_by_kind[kind].entries }).toEqual({ kind, entries: of(kind).length })
  }
  const before = (await ada.send('GET', 'billing/statements/2026-01')).body
  expect({ closing: before.closing_cents, kinds: before.entries_by_kind }).toEqual({ closing: 0, kinds: {} })
})

test('charges point at their request, and only those who may manage billing see a team', async () => {
  const owner = await world.person({ cents: 500 })
  await charge(owner, 'req_one', 3)
  await charge(owner, 'job_two', 1)
  const charges = (await owner.send('GET', 'billing/ledger?kind=settle')).body.entries
  expect(charges.map(({ reference }: Entry) => reference)).toEqual([
    { type: 'job', id: 'job_two' },
    { type: 'request', id: 'req_one' },
  ])
  expect((await (await world.person()).send('GET', 'billing/ledger?kind=settle')).body.entries).toEqual([])
  for (const path of ['billing/ledger?kind=gift', 'billing/ledger?cursor=none']) {
    expect({ path, status: (await owner.send('GET', path)).status }).toEqual({ path, status: 400 })
  }
  expect((await owner.send('GET', 'billing/statements/2026-13')).status).toBe(404)
  expect((await owner.send('GET', 'billing/statements/2099-01')).status).toBe(400)
})
