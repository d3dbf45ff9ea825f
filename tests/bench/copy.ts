/**
 * How long `svc-admin migrate copy` takes from SQLite to Postgres and back, with the rows that so many calls leave: one
 * of usage and one of the audit record for each, two of the ledger. `bun run bench copy [--rows=1000000]`, with the
 * Postgres that is installed here or the one of `SVC_TEST_POSTGRES_URL`; a million take 3 GB of disk.
 */
import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { GENESIS, hashOf } from '../../src/audit/chain'
import { migrate } from '../../src/kernel/store'
import { findPostgres } from '../run/postgres'
import { cleanEnv } from '../support/server-process'
import { createPostgresDatabase } from '../support/store'
import { processOf } from './processor'
import { benchFolder, count, print } from './setup'
import { seedCalls } from './usage-rows'

const ROWS = count('rows', 1_000_000)
const OWNERS = 100
const DAY_MS = 86_400_000

const folder = benchFolder('copy')
const postgres = await findPostgres()
if ('missing' in postgres) throw new Error(postgres.missing)
const { url } = postgres
try {
  const [from, back] = [join(folder, 'from'), join(folder, 'back')]
  for (const one of [from, back]) mkdirSync(one, { mode: 0o700 })
  await seed(join(from, 'svc.db'))
  const database = await createPostgresDatabase(postgres.url)
  await copy('SQLite to Postgres', { SVC_DATA_DIR: from }, database.url)
  await copy('Postgres to SQLite', { SVC_DATA_DIR: from, SVC_DATABASE_URL: database.url }, back)
  await database.drop()
} finally {
  await postgres.stop()
}

async function seed(path: string): Promise<void> {
  const began = performance.now()
  await migrate({ dialect: 'sqlite', path })
  const to = Date.now()
  const from = to - 30 * DAY_MS
  const each = Math.floor(ROWS / OWNERS)
  const owners = Array.from({ length: OWNERS }, () => ({
    owner: `user:${crypto.randomUUID()}`,
    key: crypto.randomUUID(),
  }))
  for (const { owner, key } of owners) seedCalls({ path, owner, keys: [key], rows: each, from, to })
  const database = new Database(path)
  database.run('PRAGMA synchronous = OFF')
  const audit = database.prepare(`INSERT INTO audit_events VALUES (${Array(17).fill('?').join(', ')})`)
  const head = database.prepare('INSERT INTO audit_heads (scope, seq, hash, at) VALUES (?, ?, ?, ?)')
  const ledger = database.prepare(
    "INSERT INTO ledger_entries (ref, kind, account, amount, at) VALUES (?, 'charge', ?, ?, ?)",
  )
  database.transaction(() => {
    for (const { owner, key } of owners) {
      let hash = GENESIS
      for (let seq = 1; seq <= each; seq++) {
        const event = eventOf(owner, key, seq, from, hash)
        hash = hashOf(event)
        const { scope, prev_hash, ...columns } = event
        audit.run(scope, seq, ...Object.values(columns), 'fast', 200, prev_hash, hash)
        ledger.run(event.request_id, owner, -seq, event.at)
        ledger.run(event.request_id, 'revenue', seq, event.at)
      }
      head.run(owner, each, hash, from + each)
    }
  })()
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  print(`${OWNERS * each} calls of ${OWNERS} owners, ${megabytes(path)} MB, made in ${since(began)} s`)
}

function eventOf(scope: string, key: string, seq: number, from: number, prev_hash: string) {
  const request_id = `req_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`
  const seen = `"endpoint":"/completions","method":"POST","mode":"fast","prompt_length":20,"prompt_sha256":"${prev_hash}"`
  return {
    ...{
      scope: scope as `user:${string}`,
      id: crypto.randomUUID() as never,
      at: from + seq,
      action: 'completion.created',
    },
    ...{ entity_type: 'completion', entity_id: `cmpl_${request_id.slice(4)}`, user_id: scope.slice(5) as never },
    ...{ org_id: null, api_key_id: key as never, request_id: request_id as never, prev_hash },
    input: `{"api_key_id":"${key}",${seen},"skills":[]}`,
    output: `{"cost_cents":0,"engine":"svc-1-flash","fallback_used":false,"request_id":"${request_id}","status":200,"tools_used":[]}`,
  }
}

async function copy(what: string, env: Record<string, string>, to: string): Promise<void> {
  const [began, before] = [performance.now(), await databaseSeconds()]
  const command = [process.execPath, 'cli/main.ts', 'migrate', 'copy', '--to', to, '--json']
  const child = Bun.spawn(command, { env: cleanEnv(env), stdout: 'pipe', stderr: 'inherit' })
  const tables = JSON.parse(await new Response(child.stdout).text())
  if ((await child.exited) !== 0) throw new Error(`${what} failed`)
  const rows = (tables as { rows: number }[]).reduce((sum, table) => sum + table.rows, 0)
  const own = Number(child.resourceUsage()!.cpuTime.total) / 1e6
  const cores = `${own.toFixed(0)} s of a core, and ${((await databaseSeconds()) - before).toFixed(0)} s of Postgres`
  print(`${what}: ${rows} rows copied, compared and verified in ${since(began)} s: ${cores}`)
}

/** Seconds of a core that connections used which have ended: the server that began them knows. Linux only. */
async function databaseSeconds(): Promise<number> {
  const client = new SQL(url, { max: 1 })
  const [{ pid }] = await client`SELECT pg_backend_pid() AS pid`
  await client.close()
  return processOf(processOf(pid).parent).endedMs / 1_000
}

function megabytes(path: string): number {
  return Math.round(Bun.file(path).size / 1_048_576)
}

function since(began: number): string {
  return ((performance.now() - began) / 1_000).toFixed(1)
}
