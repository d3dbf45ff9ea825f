import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { desc, eq, sql } from 'drizzle-orm'
import Papa from 'papaparse'
import { verifyExport } from '../../src/audit/proof'
import { auditBases, auditLog } from '../../src/audit/table'
import { trimCalls } from '../../src/billing/trim'
import type { Store } from '../../src/kernel/store'
import { createRollup, usageRecords } from '../../src/usage'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { fakeClock } from '../support/clock'
import type { Person } from '../support/world'

const DAY_MS = 86_400_000
const clock = fakeClock('2026-01-10T00:00:00.000Z')
const { world } = await createUpstreamWorld({ clock, config: { cacheEnabled: false } })
const { app, folder } = world
const { store } = app
const never = new AbortController().signal
const trim = (signal = never) => trimCalls({ ...app.container, keepDays: 90 }, signal)

const countOf = async (reader: Store['read']): Promise<number> => {
  const t = reader.of(usageRecords)
  const [row] = await reader.select({ count: sql<number>`count(*)`.mapWith(Number) }).from(t)
  return row!.count
}

async function ask(person: Person, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    clock.advance(60_000)
    expect((await person.send('POST', 'completions', { prompt: freshPrompt(), mode: 'fast' })).status).toBe(200)
  }
}

async function rollUp(): Promise<void> {
  const rollBatch = createRollup({ store })
  while (!(await rollBatch()).done);
}

/** What must not change when calls are archived. */
async function booksOf(person: Person) {
  const [balance, january, usage] = [
    await person.send('GET', 'billing/balance'),
    await person.send('GET', 'billing/statements/2026-01'),
    await person.send('GET', 'usage?from=2026-01-01T00:00:00Z&to=2026-06-01T00:00:00Z'),
  ]
  const { opening_cents, closing_cents } = january.body
  const { totals, by_day } = usage.body
  return { balance: balance.body.balance_cents, opening_cents, closing_cents, totals, by_day }
}

const faults = async () => [
  ...(await app.container.audit.verify(store.read)),
  ...(await app.container.billing.verify(store.read)),
  ...(await app.container.checkpoints.verify(store.read)),
]

test('calls of whole months are archived and deleted; books, reports and the record stay sound', async () => {
  const [ada, eve] = [await world.person(), await world.person({ ofOrg: true })]
  await ask(ada, 6)
  await ada.send('POST', 'keys', { name: 'between' })
  clock.advance(25 * DAY_MS)
  await ask(ada, 4)
  await ask(eve, 3)
  await app.container.checkpoints.signDue({ all: true })
  clock.advance(140 * DAY_MS)
  await ask(ada, 2)
  await rollUp()
  const [before, rows] = [await booksOf(ada), await countOf(store.read)]
  expect(rows).toBe(15)

  // Ended before its first batch: what was archived is not yet deleted, and the next run goes on.
  const ended = new AbortController()
  const stopping = trim(ended.signal)
  ended.abort()
  await stopping
  expect(await faults()).toEqual([])
  await trim()
  expect(await countOf(store.read)).toBe(2)
  expect(await trim()).toBe(0)
  expect(await booksOf(ada)).toEqual(before)
  expect(await faults()).toEqual([])

  expect((await ada.send('GET', 'audit/integrity')).body).toMatchObject({ valid: true, broken_at: null })
  const ledger = await ada.send('GET', 'billing/ledger?kind=carried')
  expect(ledger.body.entries.map(({ note }: { note: string }) => note)).toEqual([
    '4 calls, archived',
    '6 calls, archived',
  ])
  const listed = await ada.send('GET', 'audit?limit=100')
  expect(listed.body.map(({ action }: { action: string }) => action)).toContain('key.created')
  const early = await ada.send('GET', 'audit?limit=100&to=2026-01-31T00:00:00Z')
  expect(early.body.map(({ action }: { action: string }) => action)).toContain('key.created')
  const late = await ada.send('GET', 'audit?limit=100&from=2026-05-01T00:00:00Z')
  expect(late.body.filter(({ action }: { action: string }) => action === 'completion.created')).toHaveLength(2)
})

test('the archive proves itself against its checkpoint, and has what each call cost', async () => {
  const archive = join(folder, 'audit/archive')
  const names = readdirSync(archive).sort()
  expect(names).toHaveLength(6)
  for (const name of names.filter((each) => each.endsWith('.events.csv.gz'))) {
    const text = new TextDecoder().decode(Bun.gunzipSync(readFileSync(join(archive, name))))
    const { data } = Papa.parse<string[]>(text.replace('\ufeff', ''), { skipEmptyLines: true })
    const checkpoint = JSON.parse(readFileSync(join(archive, name.replace('events.csv.gz', 'checkpoint.json')), 'utf8'))
    const proof = await verifyExport(
      (async function* () {
        yield* data
      })(),
      [checkpoint],
    )
    expect(proof).toMatchObject({ ok: true, complete: true, events: data.length - 1, events_after_checkpoint: 0 })
  }
  const calls = names
    .filter((name) => name.endsWith('.calls.csv.gz'))
    .map((name) => new TextDecoder().decode(Bun.gunzipSync(readFileSync(join(archive, name)))))
  expect(calls.flatMap((text) => text.trim().split('\r\n').slice(1))).toHaveLength(13)
})

test('only what was archived can be deleted, and a base moved by hand is found', async () => {
  await expect(Promise.resolve(store.write(async (tx) => tx.delete(tx.of(usageRecords))))).rejects.toThrow()
  expect(await countOf(store.read)).toBe(2)

  const [base] = await store.read
    .select()
    .from(store.read.of(auditBases))
    .orderBy(desc(store.read.of(auditBases).seq))
  const events = store.read.of(auditLog)
  const [later] = await store.read.select().from(events).where(eq(events.scope, base!.scope)).orderBy(sql`seq desc`)
  const move = (seq: number, hash: string) =>
    store.write((tx) => {
      const t = tx.of(auditBases)
      return tx.update(t).set({ seq, hash }).where(eq(t.scope, base!.scope))
    })
  await move(later!.seq, later!.hash)
  const moved = `audit ${base!.scope}: its base #${later!.seq} is not an event up to which it was trimmed`
  expect(await faults()).toContain(moved)
  await move(base!.seq, base!.hash)
  expect(await faults()).toEqual([])
})
