/**
 * The rows that the product keeps of every call, in its own schema, written with bare statements and
 * committed together.
 */
import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../../src/kernel/store'

type Tokens = { prompt_tokens: number; completion_tokens: number }

const OWNER = 'user:bench'
const HELD = 1_000
const PAID = 500
/** As in the product: whoever comes within a turn or two joins the transaction. */
const MAX_TURNS = 4

export type Records = ReturnType<typeof recordsIn>

/** An empty database of the product's own schema, and the rows of a call in it; gone with the process. */
export async function openRecords(): Promise<Records> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-records-'))
  process.on('SIGTERM', () => {
    rmSync(folder, { recursive: true, force: true })
    process.exit(0)
  })
  const path = join(folder, 'svc.db')
  await migrate({ dialect: 'sqlite', path })
  const database = new Database(path)
  for (const pragma of ['synchronous = FULL', 'temp_store = MEMORY', 'cache_size = -65536']) {
    database.run(`PRAGMA ${pragma}`)
  }
  return recordsIn(database)
}

function recordsIn(database: Database) {
  const make = (text: string) => database.prepare<unknown, (string | number | null)[]>(text)
  const begin = make('BEGIN IMMEDIATE')
  const commit = make('COMMIT')
  const claim = make('UPDATE wallets SET held = held + ? WHERE id = ? AND balance - held >= ?')
  const insertHold = make("INSERT INTO holds VALUES (?, ?, NULL, 0, ?, 'open', 0, 'bench', 0, 0)")
  const endHold = make("UPDATE holds SET state = 'settled', settled_amount = ? WHERE ref = ? AND state = 'open'")
  const unclaim = make('UPDATE wallets SET balance = balance - ?, held = held - ? WHERE id = ?')
  const charge = make(
    "INSERT INTO ledger_entries VALUES (NULL, ?1, 'settle', ?2, -?3, 0, NULL), (NULL, ?1, 'settle', 'revenue', ?3, 0, NULL)",
  )
  const spend = make(
    "INSERT INTO spend_days VALUES ('key', '2026-01-01', ?, 0) ON CONFLICT DO UPDATE SET spent = spent + excluded.spent",
  )
  const usageRow = make(
    "INSERT INTO usage_records (owner, at, request_id, user_id, api_key_id, endpoint, mode, resolved_mode, model, status, prompt_tokens, completion_tokens, cost_micro, cached, latency_ms, fallback_used) VALUES (?, 0, ?, 'u', 'k', '/chat/completions', 'fast', 'fast', 'bench', 200, ?, ?, ?, 0, 1, 0)",
  )
  const head = make('SELECT seq, hash FROM audit_heads WHERE scope = ?')
  const event = make(
    "INSERT INTO audit_events VALUES (?, ?, ?, 0, 'completion.created', 'completion', ?, 'u', NULL, 'k', ?, ?, ?, 'fast', 200, ?, ?)",
  )
  const setHead = make('UPDATE audit_heads SET seq = ?, hash = ? WHERE scope = ?')
  database.run(`INSERT INTO wallets VALUES ('${OWNER}', 1000000000000, 0, 0)`)
  database.run(`INSERT INTO audit_heads VALUES ('${OWNER}', 0, '', 0)`)
  let waiting: (() => void)[] = []
  let committing = false

  function hold(ref: string): void {
    if (!database.inTransaction) begin.run()
    claim.run(HELD, OWNER, HELD)
    insertHold.run(ref, OWNER, HELD)
  }

  function settle(ref: string): void {
    if (!database.inTransaction) begin.run()
    endHold.run(PAID, ref)
    unclaim.run(PAID, HELD, OWNER)
    charge.run(ref, OWNER, PAID)
    spend.run(PAID)
  }

  /** Usage and the record. */
  function tell(ref: string, prompt: string, usage: Tokens, cost: number): void {
    if (!database.inTransaction) begin.run()
    usageRow.run(OWNER, ref, usage.prompt_tokens, usage.completion_tokens, cost)
    const last = head.get(OWNER) as { seq: number; hash: string }
    const input = JSON.stringify({ method: 'POST', mode: 'fast', prompt_sha256: sha256(prompt) })
    const output = JSON.stringify({ status: 200, engine: 'bench', request_id: ref })
    const hash = sha256(last.hash + input + output)
    event.run(OWNER, last.seq + 1, ref, ref, ref, input, output, last.hash, hash)
    setHead.run(last.seq + 1, hash, OWNER)
  }

  function durable(): Promise<void> {
    return new Promise((done) => {
      waiting.push(done)
      if (!committing) void commitTogether()
    })
  }

  async function commitTogether(): Promise<void> {
    committing = true
    for (let turn = 0, seen = 0; turn < MAX_TURNS && waiting.length > seen; turn++) {
      seen = waiting.length
      await new Promise((resolve) => setImmediate(resolve))
    }
    commit.run()
    const ended = waiting
    waiting = []
    committing = false
    for (const done of ended) done()
  }

  return { hold, settle, tell, durable }
}

const sha256 = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex')
