import { Database } from 'bun:sqlite'
import { SQL } from 'bun'

/** `seq`: the place of the first one in the owner's chain. Without it they have no events, and a quarter of the size. */
export type SeededCalls = {
  owner: string
  keys: readonly string[]
  rows: number
  from: number
  to: number
  seq?: number
}
type Input = SeededCalls & { path: string }

const MODES = ['fast', 'think', 'code', 'research']
const MODELS = ['svc-1-flash', 'svc-1-think', 'svc-1-code', 'svc-1-research']
const CHUNK = 250_000
/** Connections that write at once, on Postgres. */
const WRITERS = 2

const wordOf = (words: readonly string[], seed: string) =>
  `CASE (${seed}) % ${words.length} ${words.map((word, n) => `WHEN ${n} THEN '${word}'`).join(' ')} END`

/**
 * Writes calls of one owner straight into the file, spread evenly over a period, with latencies from a
 * millisecond to half a minute. The server must not run.
 */
export function seedCalls({ path, ...calls }: Input): void {
  const database = new Database(path)
  database.run('PRAGMA synchronous = OFF')
  database.run('PRAGMA cache_size = -400000')
  // It looks for each row before it is there, which is half of the time.
  const [trigger] = database.query('SELECT sql FROM sqlite_master WHERE name = ?').values('usage_records_no_replace')
  database.run('DROP TRIGGER usage_records_no_replace')
  const insert = database.prepare(`
    WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
    ${insertFrom(calls, "printf('%024d', i)", () => 'lower(hex(randomblob(32)))')}`)
  for (let start = 0; start < calls.rows; start += CHUNK) insert.run(start, Math.min(start + CHUNK, calls.rows))
  if (calls.seq) database.run(moveHead(calls))
  database.run(String(trigger![0]))
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
}

/** The same on Postgres. */
export async function seedPostgresCalls({ url, ...rows }: SeededCalls & { url: string }): Promise<void> {
  const client = new SQL(url, { max: WRITERS })
  const insert = insertFrom(rows, "lpad(i::text, 24, '0')", (salt) => `md5(i || '${salt}') || md5('${salt}' || i)`)
  // Made again afterwards, which is much faster than row by row.
  const indexes: { indexname: string; indexdef: string }[] = await client`
    SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'usage_records' AND indexname NOT LIKE '%_pkey'`
  for (const { indexname } of indexes) await client.unsafe(`DROP INDEX ${indexname}`)
  let next = 0
  const write = async () => {
    while (next < rows.rows) {
      const start = next
      next = Math.min(start + CHUNK, rows.rows)
      await client.unsafe(`WITH n(i) AS (SELECT generate_series(${start}::bigint, ${next - 1})) ${insert}`)
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, write))
  for (const { indexdef } of indexes) await client.unsafe(`SET maintenance_work_mem = '1GB'; ${indexdef}`)
  if (rows.seq) await client.unsafe(moveHead(rows))
  await client.unsafe('VACUUM ANALYZE usage_records')
  await client.close()
}

/** The next event of the owner follows the last of these. */
const moveHead = ({ owner, rows, seq = 0, to }: SeededCalls): string =>
  `UPDATE audit_heads SET seq = ${seq + rows - 1}, at = ${to} WHERE scope = '${owner}'`

/** Inserts a call for each `n(i)`, on either database. `hexOf` is 64 digits of a hash, others for each salt. */
function insertFrom(
  { owner, keys, rows, from, to, seq }: SeededCalls,
  id: string,
  hexOf: (salt: string) => string,
): string {
  const event = {
    seq: `${seq} + i`,
    event_id: `'5671f777-a6b2-4bd5-a74b-' || substr(${id}, 13)`,
    action: "'completion.created'",
    entity_type: "'completion'",
    entity_id: `'cmpl_' || ${id}`,
    input: `'{"api_key_id":"565cefa0-0466-44a9-8fca-9221982d18da","endpoint":"/completions","method":"POST","mode":"auto","prompt_length":18,"prompt_sha256":"' || ${hexOf('sha')} || '","skills":[]}'`,
    output: `'{"conversation_id":"5671f777-a6b2-4bd5-a74b-' || substr(${id}, 13) || '","cost_cents":0,"engine":"svc-1-flash","fallback_used":false,"request_id":"req_' || ${id} || '","routing":{"confidence":0.99,"preference_id":null,"reasoning":"reads like prompts of this mode","source":"local"},"status":200,"tools_used":[]}'`,
    prev_hash: hexOf('before'),
    hash: hexOf('own'),
  }
  const more = (part: (one: [string, string]) => string) =>
    seq === undefined ? '' : Object.entries(event).map(part).join('')
  return `
  INSERT INTO usage_records (owner, at, request_id, user_id, api_key_id, endpoint, mode, resolved_mode, model,
    status, prompt_tokens, completion_tokens, cost_micro, cached, latency_ms, ttft_ms,
    fallback_used${more(([name]) => `, ${name}`)})
  SELECT '${owner}', CAST(${from} + i * ${(to - from) / rows} AS BIGINT), 'req_' || ${id}, substr('${owner}', 6),
    ${wordOf(keys, 'a / 7')}, '/completions', CASE WHEN a % 3 <> 0 THEN 'auto' ELSE ${wordOf(MODES, 'b / 3')} END,
    ${wordOf(MODES, 'b / 3')}, ${wordOf(MODELS, 'b / 3')}, CASE WHEN a % 97 = 0 THEN 503 WHEN a % 89 = 0 THEN 429 ELSE 200 END,
    a % 4000, b % 900, a % 3000000, a % 5 = 0, CAST(power(1.0003, b % 34000) AS BIGINT), NULL,
    1 = 0${more(([, value]) => `, ${value}`)}
  FROM (SELECT i, (i * 2654435761) % 4294967296 AS a, (i * 40503 + 12345) % 65536 AS b FROM n) AS r`
}

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
