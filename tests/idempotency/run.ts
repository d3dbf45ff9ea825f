/**
 * `bun run prove keys [--keys N] [--parallel N]`: a real server, 500 Idempotency-Keys sent by 20 at once each
 * (docs/promises.md I10), half of them completions that take their time, half new keys. One line sums up; exits 1 on a
 * violation.
 */
import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createClient } from '../chaos/client'
import { devKeyOf, startServerProcess } from '../support/server-process'
import { startUpstream } from '../support/upstream'
import { runStorm } from './storm'

const ROOMY = JSON.stringify({ enterprise: { rpm: 100_000_000, tpm: 100_000_000_000 } })
const { values } = parseArgs({
  options: { keys: { type: 'string', default: '500' }, parallel: { type: 'string', default: '20' } },
})
const [keys, parallel] = [Number(values.keys), Number(values.parallel)]

const dataDir = mkdtempSync(join(tmpdir(), 'svc-storm-'))
const upstream = await startUpstream()
const server = await startServerProcess({
  dataDir,
  env: { SVC_ENGINE_BASE_URL: upstream.url, SVC_ENGINE_MODEL: 'scripted', SVC_TIERS: ROOMY },
})
const client = createClient(server.url, devKeyOf(dataDir))

const startedAt = performance.now()
const report = await runStorm({ keys, parallel, send })
const seconds = (performance.now() - startedAt) / 1000
await server.stop()
await upstream.stop()
const made = effects()
if (made !== keys) report.violations.push(`${made} effects are stored of ${keys} keys`)
rmSync(dataDir, { recursive: true, force: true })

for (const violation of report.violations.slice(0, 20)) process.stdout.write(`VIOLATION ${violation}\n`)
process.stdout.write(
  `prove keys ${keys} keys x ${parallel}: ${report.requests} requests in ${seconds.toFixed(1)} s, ${report.executions} ran, ${report.replays} replays, ${report.conflicts} conflicts, ${report.violations.length} violations\n`,
)
process.exit(report.violations.length ? 1 : 0)

async function send(key: string, number: number) {
  const outcome =
    number % 2
      ? await client.send('POST', 'keys', { name: `storm ${number}` }, key)
      : await client.send('POST', 'completions', { prompt: `Storm ${number} [[delay:20]]`, mode: 'fast' }, key)
  if (outcome.is === 'acked') return { status: 200, text: outcome.text, isReplay: outcome.isReplay }
  return { status: outcome.is === 'refused' ? outcome.status : 0, text: '', isReplay: false }
}

/** What is really there: keys by name and paid answers, of which each number may have one. */
function effects(): number {
  const database = new Database(join(dataDir, 'svc.db'), { readonly: true })
  const count = (text: string) => (database.query(text).get() as { n: number }).n
  const found =
    count("SELECT count(*) AS n FROM api_keys WHERE name LIKE 'storm %'") +
    count("SELECT count(*) AS n FROM audit_log WHERE action = 'completion.created'")
  database.close()
  return found
}
