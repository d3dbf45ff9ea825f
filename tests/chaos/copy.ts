import { Database } from 'bun:sqlite'
import { copyFileSync, cpSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../src/app/config'
import { openApp } from '../../src/app/open'
import { createLog } from '../../src/kernel/log'
import { centsToMicro } from '../../src/kernel/money'
import { countsOf, offTheRecord } from './effects'
import { misbooked, type PurchaseAck } from './purchases'
import type { AnswerAck, KeyAck, OrgAck } from './witness'

/** What a crash leaves is these; the lock and the socket belong to the process that is gone. */
const FILES = ['svc.db', 'svc.db-wal', 'secrets.json']
const CHECKPOINTS = 'audit'

/** Copies a data folder as the crash left it. */
export function copyDataDir(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to, { recursive: true })
  for (const name of FILES) {
    if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name))
  }
  // The server is gone, so these agree with each other whatever the order.
  if (existsSync(join(from, CHECKPOINTS))) cpSync(join(from, CHECKPOINTS), join(to, CHECKPOINTS), { recursive: true })
}

type Acked = {
  answers: readonly AnswerAck[]
  keys: readonly KeyAck[]
  orgs: readonly OrgAck[]
  settings: readonly string[]
  purchases: readonly PurchaseAck[]
  events: readonly string[]
  runs: readonly string[]
}

/**
 * What is wrong with a copied data folder, in sentences: acknowledged rows that are missing or differ,
 * anything charged twice, sums that disagree. Plain SQL, so that no code of the product vouches for itself.
 */
export function inspectCopy(dataDir: string, acked: Acked): string[] {
  const database = new Database(join(dataDir, 'svc.db'), { readwrite: true })
  try {
    return [
      ...missingAnswers(database, acked.answers),
      ...missing(database, 'key', 'api_keys', acked.keys),
      ...missing(database, 'org', 'orgs', acked.orgs),
      ...unrecorded(database, acked.settings),
      ...notOnce(database, 'event', acked.events, 'SELECT id FROM bus_events'),
      ...notOnce(database, 'run', acked.runs, RUNS),
      ...misbooked(database, acked.purchases),
      ...chargedTwice(database),
      ...madeTwice(database, acked.keys),
      ...answersWithoutEffect(database),
      ...sums(database),
      ...overspent(database),
      ...offTheRecord(database),
    ]
  } finally {
    database.close()
  }
}

/** `svc-admin verify` on the copy: opens it as the command does, and says what is broken. */
export async function verifyCopy(dataDir: string, databaseUrl = ''): Promise<string[]> {
  const log = createLog({ level: 'silent', pretty: false, write: () => undefined })
  const app = await openApp({ config: loadConfig({ dataDir, databaseUrl, production: false }), log })
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

/** The ends of runs, as the record has them. A workflow takes its runs with it when it is deleted. */
const RUNS =
  "SELECT json_extract(input, '$.metadata.run_id') AS id FROM audit_log WHERE action = 'workflow.run' AND json_extract(output, '$.status') = 200"

type UsageRow = { request_id: string; cost_micro: number; status: number }
type Legs = { ref: string; legs: number }

const all = <T>(database: Database, text: string): T[] => database.query(text).all() as T[]

function missingAnswers(database: Database, answers: readonly AnswerAck[]): string[] {
  const rows = all<UsageRow>(database, 'SELECT request_id, cost_micro, status FROM usage_records')
  const byRequest = new Map(rows.map((row) => [row.request_id, row]))
  const completions = all<UsageRow>(database, "SELECT request_id FROM audit_log WHERE action = 'completion.created'")
  const recorded = new Set(completions.map((row) => row.request_id))
  return answers.flatMap(({ requestId, costCents }) => {
    const row = byRequest.get(requestId)
    if (!row) return [`the answer of ${requestId} was acknowledged and has no usage row`]
    if (row.cost_micro !== centsToMicro(costCents))
      return [`${requestId} said ${costCents} cents and stored ${row.cost_micro} micro-cents`]
    return recorded.has(requestId) ? [] : [`the answer of ${requestId} was acknowledged and is not on the record`]
  })
}

function missing(database: Database, what: string, table: string, acked: readonly OrgAck[]): string[] {
  const rows = all<OrgAck>(database, `SELECT id, name FROM ${table}`)
  const names = new Map(rows.map(({ id, name }) => [id, name]))
  return acked.flatMap(({ id, name }) =>
    names.get(id) === name ? [] : [`${what} ${id} (${name}) was acknowledged and is not there`],
  )
}

function unrecorded(database: Database, settings: readonly string[]): string[] {
  const found = all<UsageRow>(database, "SELECT request_id FROM audit_log WHERE action = 'settings.updated'")
  const recorded = new Set(found.map(({ request_id }) => request_id))
  return settings.flatMap((id) => (recorded.has(id) ? [] : [`the settings of ${id} were acknowledged, off the record`]))
}

/** Acknowledged ids that a query does not have, or has more than once. */
function notOnce(database: Database, what: string, ids: readonly string[], query: string): string[] {
  const counts = countsOf(database, query)
  return ids
    .filter((id) => counts.get(id) !== 1)
    .map((id) => `${what} ${id} was acknowledged and is there ${counts.get(id) ?? 0} times`)
}

/** An answer that is kept belongs to something that happened: its request is on the record. */
function answersWithoutEffect(database: Database): string[] {
  const known = 'SELECT request_id FROM audit_log'
  const kept = `SELECT request_id FROM idempotency_keys WHERE status IS NOT NULL AND request_id NOT IN (${known})`
  return all<UsageRow>(database, kept).map(
    ({ request_id }) => `the answer of ${request_id} is kept and nothing of it is on the record`,
  )
}

/** Prompts and names are each sent once, whatever the number of retries: they may be there once. */
function madeTwice(database: Database, keys: readonly KeyAck[]): string[] {
  const twice = (what: string, ref: string, from: string) =>
    all<Legs>(database, `SELECT ${ref} AS ref, count(*) AS legs FROM ${from} GROUP BY 1 HAVING legs > 1`).map(
      ({ ref: found, legs }) => `${what} ${found} was made ${legs} times`,
    )
  const rotations = countsOf(database, "SELECT entity_id AS id FROM audit_log WHERE action = 'key.rotated'")
  return [
    ...twice(
      'the answer to',
      "json_extract(input, '$.prompt_sha256')",
      "audit_log WHERE action = 'completion.created'",
    ),
    ...twice('the key', 'name', 'api_keys'),
    ...twice('the org', 'name', 'orgs'),
    ...['routing_preferences', 'guardrail_policies', 'workflows', 'test_cases'].flatMap((table) =>
      twice(`of ${table}`, 'name', table),
    ),
    ...keys.flatMap(({ id, rotations: acked, rotating }) => {
      const n = rotations.get(id) ?? 0
      return n === acked || (rotating && n === acked + 1) ? [] : [`key ${id} was rotated ${n} times, not ${acked}`]
    }),
  ]
}

function chargedTwice(database: Database): string[] {
  const counted = (ref: string, from: string, legs: number) =>
    all<Legs>(database, `SELECT ${ref} AS ref, count(*) AS legs FROM ${from} GROUP BY 1 HAVING legs <> ${legs}`)
  const settles = counted('ref', "ledger WHERE kind = 'settle'", 2)
  const usages = counted('request_id', 'usage_records', 1)
  return [
    ...settles.map(({ ref, legs }) => `the charge of ${ref} has ${legs} legs in the ledger, not 2`),
    ...usages.map(({ ref, legs }) => `${ref} has ${legs} usage rows`),
  ]
}

/** No owner spends what they do not have, and what is on hold they have. */
function overspent(database: Database): string[] {
  const held = "SELECT wallet_id AS owner, sum(amount) AS held FROM holds WHERE state = 'open' GROUP BY wallet_id"
  const left = `SELECT account, sum(amount) - coalesce(max(held), 0) AS n FROM ledger
    LEFT JOIN (${held}) ON owner = account WHERE account LIKE '%:%' GROUP BY account HAVING n < 0`
  return all<{ account: string; n: number }>(database, left).map(
    ({ account, n }) => `${account} spent ${-n} micro-cents more than it had`,
  )
}

/** Charges, usage and settled holds are three records of the same money. */
function sums(database: Database): string[] {
  const charged = one(
    database,
    "SELECT -coalesce(sum(amount), 0) AS n FROM ledger WHERE kind = 'settle' AND account <> 'revenue'",
  )
  const used = one(database, 'SELECT coalesce(sum(cost_micro), 0) AS n FROM usage_records')
  const settled = one(database, 'SELECT coalesce(sum(settled_amount), 0) AS n FROM holds')
  const isOne = charged === used && used === settled
  return isOne ? [] : [`charged ${charged}, used ${used}, settled ${settled} micro-cents`]
}

const one = (database: Database, text: string): number => (database.query(text).get() as { n: number }).n
