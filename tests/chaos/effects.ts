import type { Database } from 'bun:sqlite'

type Pair = { action: string; effects: string; rows: string }

const rowsOf = (action: string, what = 'entity_id') => `SELECT ${what} AS id FROM audit_log WHERE action = '${action}'`

/**
 * What each action leaves behind, and what the record says of it, as two lists of the same ids (docs/promises.md I19).
 * They must be equal, each id as often: an effect off the record and a row without effect both show.
 */
const PAIRS: readonly Pair[] = [
  {
    action: 'completion.created and completion.failed',
    effects: "SELECT request_id || ' ' || status AS id FROM usage_records",
    rows: "SELECT request_id || ' ' || status AS id FROM audit_log WHERE action IN ('completion.created', 'completion.failed')",
  },
  {
    action: 'completion.interrupted',
    effects:
      "SELECT substr(ref, instr(ref, '.') + 1) AS id FROM holds WHERE state = 'released' AND expires_at <> 253402300799998 AND id NOT IN (SELECT request_id FROM usage_records)",
    rows: rowsOf('completion.interrupted', 'request_id'),
  },
  { action: 'key.created', effects: 'SELECT id FROM api_keys', rows: rowsOf('key.created') },
  {
    action: 'key.revoked',
    effects: 'SELECT id FROM api_keys WHERE revoked_at IS NOT NULL',
    rows: rowsOf('key.revoked'),
  },
  { action: 'event.published', effects: 'SELECT id FROM bus_events', rows: rowsOf('event.published') },
  {
    action: 'org.created',
    effects: `SELECT id FROM orgs UNION ALL ${rowsOf('org.deleted')}`,
    rows: rowsOf('org.created'),
  },
  {
    action: 'conversation.deleted',
    effects: `${rowsOf('conversation.deleted')} AND entity_id NOT IN (SELECT id FROM conversations)`,
    rows: rowsOf('conversation.deleted'),
  },
  {
    action: 'credits.purchased',
    effects: "SELECT substr(ref, 10) AS id FROM ledger_entries WHERE kind = 'purchase' AND amount > 0",
    rows: rowsOf('credits.purchased'),
  },
  {
    action: 'billing.checkout_created',
    effects: "SELECT id FROM purchases WHERE kind = 'checkout'",
    rows: rowsOf('billing.checkout_created'),
  },
  {
    action: 'settings.updated',
    effects: 'SELECT user_id AS id FROM user_settings',
    rows: `SELECT DISTINCT id FROM (${rowsOf('settings.updated')})`,
  },
]

/** Actions whose effects and audit rows are not the same ones, exactly. Empty when all of them are. */
export const offTheRecord = (database: Database): string[] => PAIRS.flatMap((pair) => compare(database, pair))

function compare(database: Database, { action, effects, rows }: Pair): string[] {
  const [done, notice] = [countsOf(database, effects), countsOf(database, rows)]
  const ids = [...new Set([...done.keys(), ...notice.keys()])]
  return ids
    .filter((id) => done.get(id) !== notice.get(id))
    .map(
      (id) => `${action}: ${id} happened ${done.get(id) ?? 0} times and is on the record ${notice.get(id) ?? 0} times`,
    )
}

/** How often a query has each id. */
export function countsOf(database: Database, query: string): Map<string, number> {
  const rows = database.query(`SELECT id, count(*) AS n FROM (${query}) GROUP BY id`).all()
  return new Map((rows as { id: string; n: number }[]).map(({ id, n }) => [id, n]))
}
