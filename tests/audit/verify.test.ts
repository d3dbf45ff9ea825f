import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAuditLog } from '../../src/audit'
import { hashOf } from '../../src/audit/chain'
import type { AuditEventRow } from '../../src/audit/table'
import { migrate, openSqlite } from '../../src/kernel/store'
import { fakeClock } from '../support/clock'
import { temporaryFolder } from '../support/temporary-folder'
import { createWorld } from './world'

const folder = temporaryFolder('svc-audit-')
const onDiskFailure = (error: unknown) => {
  throw error
}

/**
 * An honest record of two chains, written once; each mutation gets a copy with the triggers gone. Every third event is
 * on the row of a call.
 */
const honest = join(folder, 'honest.db')
const EVENTS = 60
await migrate({ dialect: 'sqlite', path: honest })
const store = openSqlite({ path: honest, onDiskFailure })
const { someone } = createWorld(store)
const [ada, eve] = [someone(), someone()]
for (let turn = 0; turn < EVENTS; turn++)
  for (const one of [ada, eve]) await (turn % 3 === 1 ? one.call : one.act)({ entityId: `cmpl_${turn}` })
await store.close()

let copies = 0

/** What verify says of a copy after somebody with the file has been at it. */
async function verifyAfter(tamper: (raw: Database) => void): Promise<string[]> {
  const path = join(folder, `copy-${++copies}.db`)
  copyFileSync(honest, path)
  const raw = new Database(path)
  for (const table of ['audit_events', 'usage_records'])
    for (const change of ['update', 'delete', 'replace']) raw.run(`DROP TRIGGER ${table}_no_${change}`)
  tamper(raw)
  raw.close()
  const copy = openSqlite({ path, onDiskFailure })
  const violations = await createAuditLog({ clock: fakeClock() }).verify(copy.read)
  await copy.close()
  return violations
}

const scope = ada.scope
const rowAt = (raw: Database, seq: number) =>
  raw.query('SELECT * FROM audit_log WHERE scope = ? AND seq = ?').get(scope, seq) as AuditEventRow
/** Where an event is stored, and how two of its columns are called there. */
const placeOf = (raw: Database, of: string, seq: number) =>
  raw.query('SELECT 1 FROM usage_records WHERE owner = ? AND seq = ?').get(of, seq)
    ? { table: 'usage_records', scope: 'owner' }
    : { table: 'audit_events', scope: 'scope' }
const set = (raw: Database, seq: number, column: string, value: string | number | null) => {
  const place = placeOf(raw, scope, seq)
  const name = column === 'scope' ? place.scope : column
  raw.query(`UPDATE ${place.table} SET ${name} = ? WHERE ${place.scope} = ? AND seq = ?`).run(value, scope, seq)
}
const remove = (raw: Database, seq: number, of: string = scope) => {
  const place = placeOf(raw, of, seq)
  raw.query(`DELETE FROM ${place.table} WHERE ${place.scope} = ? AND seq = ?`).run(of, seq)
}
const shift = (raw: Database, from: number, by: number) => {
  const rows = raw.query('SELECT seq FROM audit_log WHERE scope = ? AND seq >= ? ORDER BY seq').all(scope, from)
  for (const row of (by > 0 ? rows.reverse() : rows) as { seq: number }[]) set(raw, row.seq, 'seq', row.seq + by)
}
const insert = (raw: Database, row: AuditEventRow) =>
  raw
    .query(`INSERT INTO audit_events (${Object.keys(row).join()}) VALUES (${Object.keys(row).fill('?').join()})`)
    .run(...(Object.values(row) as (string | number | null)[]))

const MUTATIONS: Record<string, (raw: Database, seq: number) => void> = {
  'a changed action': (raw, seq) => set(raw, seq, 'action', 'key.created'),
  'a changed summary': (raw, seq) => set(raw, seq, 'output', '{"status":200}'),
  'a changed time': (raw, seq) => set(raw, seq, 'at', 1),
  'a changed filter column': (raw, seq) => set(raw, seq, 'status', 201),
  'a change with its hash made to fit': (raw, seq) => {
    set(raw, seq, 'user_id', 'someone-else')
    set(raw, seq, 'hash', hashOf(rowAt(raw, seq)))
  },
  'a deleted event': (raw, seq) => remove(raw, seq),
  'a deleted event with the gap closed': (raw, seq) => {
    remove(raw, seq)
    shift(raw, seq + 1, -1)
  },
  'an inserted event': (raw, seq) => {
    const model = rowAt(raw, seq)
    shift(raw, seq, 1)
    const forged = { ...model, id: 'forged' as never, action: 'credits.purchased' }
    insert(raw, { ...forged, hash: hashOf(forged) })
  },
  'two events swapped': (raw, seq) => {
    const other = seq === 1 ? EVENTS : 1
    set(raw, seq, 'seq', 1_000)
    set(raw, other, 'seq', seq)
    set(raw, 1_000, 'seq', other)
  },
  'an event moved to another chain': (raw, seq) => {
    remove(raw, seq, eve.scope)
    set(raw, seq, 'scope', eve.scope)
  },
  'a tail cut': (raw, seq) => {
    for (let at = seq; at <= EVENTS; at++) remove(raw, at)
  },
}

describe('verify (I20)', () => {
  test('finds nothing wrong with an honest record', async () => {
    expect(await verifyAfter(() => undefined)).toEqual([])
  })

  const positions = [1, 2, 17, 30, EVENTS - 1, EVENTS]
  test.each(Object.entries(MUTATIONS))('finds %s, at any place', async (_name, mutate) => {
    for (const seq of positions) {
      const violations = await verifyAfter((raw) => mutate(raw, seq))
      expect(violations.length, `event ${seq}`).toBeGreaterThan(0)
      expect(violations.join()).toContain(scope)
    }
  })

  test('finds an event written past the head', async () => {
    const violations = await verifyAfter((raw) => {
      const last = rowAt(raw, EVENTS)
      const forged = { ...last, seq: EVENTS + 1, id: 'forged' as never, prev_hash: last.hash }
      insert(raw, { ...forged, hash: hashOf(forged) })
    })
    expect(violations).toEqual([`audit ${scope} #${EVENTS + 1}: is after the head of its chain`])
  })

  test('finds a chain that is gone altogether', async () => {
    const violations = await verifyAfter((raw) => {
      for (let seq = 1; seq <= EVENTS; seq++) remove(raw, seq)
    })
    expect(violations).toEqual([`audit ${scope}: no event has the hash that its head gives for #${EVENTS}`])
  })

  test('stops listing after a hundred', async () => {
    const violations = await verifyAfter((raw) => {
      for (const table of ['audit_events', 'usage_records']) raw.run(`UPDATE ${table} SET action = 'x'`)
    })
    expect(violations).toHaveLength(101)
  })
})
