import { Database } from 'bun:sqlite'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuditLog, createCheckpointBook, createCheckpoints } from '../../src/audit'
import { GENESIS, hashOf } from '../../src/audit/chain'
import type { AuditEventRow } from '../../src/audit/table'
import { newSigningKey, openSigningKey } from '../../src/kernel/signing'
import { migrate, openSqlite } from '../../src/kernel/store'
import { fakeClock } from '../support/clock'
import { createWorld } from './world'

const onDiskFailure = (error: unknown) => {
  throw error
}

/** Somebody with the file and no triggers, at one place of one chain. */
export type Tampering = (raw: Database, scope: string, seq: number) => void

/** An honest record of two chains with a checkpoint of each, and copies of it that were tampered with. */
export async function createBench(events: number) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-tampering-'))
  const honest = join(folder, 'honest.db')
  await migrate({ dialect: 'sqlite', path: honest })
  const store = openSqlite({ path: honest, onDiskFailure })
  const { clock, someone } = createWorld(store)
  const [ada, eve] = [someone(), someone()]
  for (let turn = 1; turn <= events; turn++) {
    clock.advance(1_000)
    await Promise.all([ada.act({ entityId: `cmpl_${turn}` }), eve.act({ entityId: `cmpl_${turn}` })])
  }
  const key = openSigningKey(newSigningKey())
  const book = createCheckpointBook({ folder: join(folder, 'audit') })
  const parts = { clock, key, book, onBroken: () => undefined }
  await createCheckpoints({ store, ...parts }).signDue({ all: true })
  await store.close()

  /** What `svc-admin verify` says of a copy: the chains, then the chains against the kept checkpoints. */
  async function verifyAfter(tamper: (raw: Database) => void): Promise<{ chains: string[]; checkpoints: string[] }> {
    const path = join(folder, 'copy.db')
    for (const tail of ['', '-wal', '-shm']) rmSync(path + tail, { force: true })
    copyFileSync(honest, path)
    const raw = new Database(path)
    raw.run('DROP TRIGGER audit_events_no_update')
    raw.run('DROP TRIGGER audit_events_no_delete')
    raw.run('DROP TRIGGER audit_events_no_replace')
    raw.transaction(tamper)(raw)
    raw.close()
    const copy = openSqlite({ path, onDiskFailure })
    const chains = await createAuditLog({ clock: fakeClock() }).verify(copy.read)
    const checkpoints = await createCheckpoints({ store: copy, ...parts }).verify(copy.read)
    await copy.close()
    return { chains, checkpoints }
  }

  return { events, scope: ada.scope, verifyAfter, close: () => rmSync(folder, { recursive: true, force: true }) }
}

const rowAt = (raw: Database, scope: string, seq: number) =>
  raw.query('SELECT * FROM audit_events WHERE scope = ? AND seq = ?').get(scope, seq) as AuditEventRow
const set = (raw: Database, scope: string, seq: number, column: string, value: string | number | null) =>
  raw.query(`UPDATE audit_events SET ${column} = ? WHERE scope = ? AND seq = ?`).run(value, scope, seq)
const remove = (raw: Database, scope: string, seq: number) =>
  raw.query('DELETE FROM audit_events WHERE scope = ? AND seq = ?').run(scope, seq)
const insert = (raw: Database, row: AuditEventRow) =>
  raw
    .query(`INSERT INTO audit_events (${Object.keys(row).join()}) VALUES (${Object.keys(row).fill('?').join()})`)
    .run(...(Object.values(row) as (string | number | null)[]))

/** Everything from a place on, moved by one. */
function shift(raw: Database, scope: string, from: number, by: 1 | -1): void {
  const rows = raw.query('SELECT seq FROM audit_events WHERE scope = ? AND seq >= ? ORDER BY seq').all(scope, from)
  for (const { seq } of (by > 0 ? rows.reverse() : rows) as { seq: number }[]) set(raw, scope, seq, 'seq', seq + by)
}

/** Hashes made to fit again from a place on, and the head too: the work of somebody who knows the format. */
function rehash(raw: Database, scope: string, from: number): void {
  let before = from === 1 ? GENESIS : rowAt(raw, scope, from - 1).hash
  const rows = raw.query('SELECT * FROM audit_events WHERE scope = ? AND seq >= ? ORDER BY seq').all(scope, from)
  for (const row of rows as AuditEventRow[]) {
    const hash = hashOf({ ...row, prev_hash: before })
    set(raw, scope, row.seq, 'prev_hash', before)
    set(raw, scope, row.seq, 'hash', hash)
    before = hash
  }
  const last = raw.query('SELECT seq, hash, at FROM audit_events WHERE scope = ? ORDER BY seq DESC LIMIT 1').get(scope)
  const { seq, hash, at } = (last ?? { seq: 0, hash: GENESIS, at: 0 }) as { seq: number; hash: string; at: number }
  raw.query('UPDATE audit_heads SET seq = ?, hash = ?, at = ? WHERE scope = ?').run(seq, hash, at, scope)
}

/** The eight of docs/promises.md I20. The last two leave a chain that agrees with itself: only a checkpoint tells. */
export const MUTATIONS: Record<string, Tampering> = {
  'a changed event': (raw, scope, seq) => set(raw, scope, seq, 'output', '{"status":200}'),
  'a changed event with its own hash made to fit': (raw, scope, seq) => {
    set(raw, scope, seq, 'action', 'key.created')
    set(raw, scope, seq, 'hash', hashOf(rowAt(raw, scope, seq)))
  },
  'a deleted event': (raw, scope, seq) => remove(raw, scope, seq),
  'a deleted event with the gap closed': (raw, scope, seq) => {
    remove(raw, scope, seq)
    shift(raw, scope, seq + 1, -1)
  },
  'an inserted event': (raw, scope, seq) => {
    const model = rowAt(raw, scope, seq)
    shift(raw, scope, seq, 1)
    const forged = { ...model, id: 'forged' as never, action: 'credits.purchased' }
    insert(raw, { ...forged, hash: hashOf(forged) })
  },
  'two events swapped': (raw, scope, seq) => {
    const other = seq === 1 ? 2 : seq - 1
    set(raw, scope, seq, 'seq', 1_000_000)
    set(raw, scope, other, 'seq', seq)
    set(raw, scope, 1_000_000, 'seq', other)
  },
  'a tail cut, and the head set back': (raw, scope, seq) => {
    raw.query('DELETE FROM audit_events WHERE scope = ? AND seq >= ?').run(scope, seq)
    rehash(raw, scope, seq)
  },
  'everything rewritten from an event on': (raw, scope, seq) => {
    set(raw, scope, seq, 'user_id', 'someone-else')
    rehash(raw, scope, seq)
  },
}
