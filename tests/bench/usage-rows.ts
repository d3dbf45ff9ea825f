import { Database } from 'bun:sqlite'
import { SQL } from 'bun'

type Rows = { owner: string; keys: readonly string[]; rows: number; from: number; to: number }
type Input = Rows & { path: string }

const MODES = ['fast', 'think', 'code', 'research']
const MODELS = ['svc-1-flash', 'svc-1-think', 'svc-1-code', 'svc-1-research']
const CHUNK = 500_000

const wordOf = (words: readonly string[], seed: string) =>
  `CASE (${seed}) % ${words.length} ${words.map((word, n) => `WHEN ${n} THEN '${word}'`).join(' ')} END`

/**
 * Writes calls of one owner straight into the file, spread evenly over a period, with latencies from a
 * millisecond to half a minute. The server must not run.
 */
export function seedCalls({ path, owner, keys, rows, from, to }: Input): void {
  const database = new Database(path)
  database.run('PRAGMA synchronous = OFF')
  database.run('PRAGMA cache_size = -400000')
  const insert = database.prepare(`
    WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
    ${insertFrom({ owner, keys, rows, from, to }, "printf('req_%024d', i)")}`)
  for (let start = 0; start < rows; start += CHUNK) insert.run(start, Math.min(start + CHUNK, rows))
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
}

/** The same on Postgres. */
export async function seedPostgresCalls({ url, ...rows }: Rows & { url: string }): Promise<void> {
  const client = new SQL(url, { max: 1 })
  const insert = insertFrom(rows, "'req_' || lpad(i::text, 24, '0')")
  for (let start = 0; start < rows.rows; start += CHUNK) {
    const end = Math.min(start + CHUNK, rows.rows)
    await client.unsafe(`WITH n(i) AS (SELECT generate_series(${start}::bigint, ${end - 1})) ${insert}`)
  }
  await client.unsafe('VACUUM ANALYZE usage_records')
  await client.close()
}

/** Inserts a call for each `n(i)`, on either database. */
const insertFrom = ({ owner, keys, rows, from, to }: Rows, requestId: string): string => `
  INSERT INTO usage_records (owner, at, request_id, user_id, api_key_id, endpoint, mode, resolved_mode, model,
    status, prompt_tokens, completion_tokens, cost_micro, cached, latency_ms, ttft_ms, fallback_used)
  SELECT '${owner}', CAST(${from} + i * ${(to - from) / rows} AS BIGINT), ${requestId}, NULL,
    ${wordOf(keys, 'a / 7')}, '/completions', CASE WHEN a % 3 <> 0 THEN 'auto' ELSE ${wordOf(MODES, 'b / 3')} END,
    ${wordOf(MODES, 'b / 3')}, ${wordOf(MODELS, 'b / 3')}, CASE WHEN a % 97 = 0 THEN 503 WHEN a % 89 = 0 THEN 429 ELSE 200 END,
    a % 4000, b % 900, a % 3000000, a % 5 = 0, CAST(power(1.0003, b % 34000) AS BIGINT), NULL, 1 = 0
  FROM (SELECT i, (i * 2654435761) % 4294967296 AS a, (i * 40503 + 12345) % 65536 AS b FROM n) AS r`

/** What a scan of every call of an owner says of a period, with none of the product's code. */
export function scanCalls(path: string, owner: string, from: number, to: number) {
  const database = new Database(path, { readonly: true })
  const began = performance.now()
  const { client_errors, server_errors, cost_micro, ...total } = database
    .query(
      `SELECT count(*) AS requests, sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens,
        sum(cost_micro) AS cost_micro, sum(cached) AS hits, sum(status BETWEEN 400 AND 499) AS client_errors,
        sum(status >= 500) AS server_errors FROM usage_records WHERE owner = ? AND at >= ? AND at < ?`,
    )
    .get(owner, from, to) as Record<string, number> & { requests: number }
  const ms = performance.now() - began
  database.close()
  const errors = { '4xx': client_errors, '5xx': server_errors }
  const total_tokens = total.prompt_tokens! + total.completion_tokens!
  return { total: { ...total, total_tokens, cost_cents: cost_micro! / 1_000_000, errors }, ms }
}
