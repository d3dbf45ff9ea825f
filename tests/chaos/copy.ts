import { Database } from 'bun:sqlite'
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../src/app/config'
import { openApp } from '../../src/app/open'
import { createLog } from '../../src/kernel/log'
import { centsToMicro } from '../../src/kernel/money'
import type { AnswerAck, KeyAck } from './witness'

/** What a crash leaves is these; the lock and the socket belong to the process that is gone. */
const FILES = ['svc.db', 'svc.db-wal', 'secrets.json']

/** Copies a data folder as the crash left it. */
export function copyDataDir(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to, { recursive: true })
  for (const name of FILES) {
    if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name))
  }
}

/**
 * What is wrong with a copied data folder, in sentences: acknowledged rows that are missing or differ,
 * anything charged twice, sums that disagree. Plain SQL, so that no code of the product vouches for itself.
 */
export function inspectCopy(
  dataDir: string,
  acked: { answers: readonly AnswerAck[]; keys: readonly KeyAck[] },
): string[] {
  const database = new Database(join(dataDir, 'svc.db'), { readwrite: true })
  try {
    return [
      ...missingAnswers(database, acked.answers),
      ...missingKeys(database, acked.keys),
      ...chargedTwice(database),
      ...sums(database),
    ]
  } finally {
    database.close()
  }
}

/** `svc-admin verify` on the copy: opens it as the command does, and says what is broken. */
export async function verifyCopy(dataDir: string): Promise<string[]> {
  const log = createLog({ level: 'silent', pretty: false, write: () => undefined })
  const app = await openApp({ config: loadConfig({ dataDir, production: false }), log })
  try {
    const response = await app.ops.handle(new Request('http://localhost/ops/v1/verify', { method: 'POST' }))
    const { checks } = (await response.json()) as { checks: { check: string; violations: string[] }[] }
    return checks.flatMap(({ check, violations }) => violations.map((violation) => `${check}: ${violation}`))
  } finally {
    await app.close()
  }
}

/** How many holds are open in a live data folder. */
export function openHolds(dataDir: string): number {
  const database = new Database(join(dataDir, 'svc.db'), { readonly: true })
  try {
    return one(database, "SELECT count(*) AS n FROM holds WHERE state = 'open'")
  } finally {
    database.close()
  }
}

type UsageRow = { request_id: string; cost_micro: number; status: number }

function missingAnswers(database: Database, answers: readonly AnswerAck[]): string[] {
  const rows = database.query('SELECT request_id, cost_micro, status FROM usage_records').all() as UsageRow[]
  const byRequest = new Map(rows.map((row) => [row.request_id, row]))
  const recorded = new Set(
    (database.query("SELECT request_id FROM audit_events WHERE action = 'completion.created'").all() as UsageRow[]).map(
      (row) => row.request_id,
    ),
  )
  return answers.flatMap(({ requestId, costCents }) => {
    const row = byRequest.get(requestId)
    if (!row) return [`the answer of ${requestId} was acknowledged and has no usage row`]
    if (row.cost_micro !== centsToMicro(costCents))
      return [`${requestId} said ${costCents} cents and stored ${row.cost_micro} micro-cents`]
    return recorded.has(requestId) ? [] : [`the answer of ${requestId} was acknowledged and is not on the record`]
  })
}

function missingKeys(database: Database, keys: readonly KeyAck[]): string[] {
  const names = new Map(
    (database.query('SELECT id, name FROM api_keys').all() as { id: string; name: string }[]).map(({ id, name }) => [
      id,
      name,
    ]),
  )
  return keys.flatMap(({ id, name }) =>
    names.get(id) === name ? [] : [`key ${id} (${name}) was acknowledged and is not there`],
  )
}

function chargedTwice(database: Database): string[] {
  const settles = database
    .query("SELECT ref, count(*) AS legs FROM ledger_entries WHERE kind = 'settle' GROUP BY ref HAVING legs <> 2")
    .all() as { ref: string; legs: number }[]
  const usages = database
    .query('SELECT request_id AS ref, count(*) AS legs FROM usage_records GROUP BY request_id HAVING legs <> 1')
    .all() as { ref: string; legs: number }[]
  return [
    ...settles.map(({ ref, legs }) => `the charge of ${ref} has ${legs} legs in the ledger, not 2`),
    ...usages.map(({ ref, legs }) => `${ref} has ${legs} usage rows`),
  ]
}

/** Charges, usage and settled holds are three records of the same money; and every key has its audit row. */
function sums(database: Database): string[] {
  const charged = one(
    database,
    "SELECT -coalesce(sum(amount), 0) AS n FROM ledger_entries WHERE kind = 'settle' AND account <> 'revenue'",
  )
  const used = one(database, 'SELECT coalesce(sum(cost_micro), 0) AS n FROM usage_records')
  const settled = one(database, 'SELECT coalesce(sum(settled_amount), 0) AS n FROM holds')
  const keys = one(database, 'SELECT count(*) AS n FROM api_keys')
  const created = one(database, "SELECT count(*) AS n FROM audit_events WHERE action = 'key.created'")
  return [
    ...(charged === used && used === settled
      ? []
      : [`charged ${charged}, used ${used}, settled ${settled} micro-cents`]),
    ...(keys === created ? [] : [`${keys} keys, and ${created} on the record`]),
  ]
}

const one = (database: Database, text: string): number => (database.query(text).get() as { n: number }).n
