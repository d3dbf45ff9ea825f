/**
 * `bun run bench asleep [--seconds=60] [--postgres=postgres://…]`: what a server that nobody asks anything costs, in
 * percent of a core as the kernel counts it (budget 0.5), after it has settled.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServerProcess } from '../support/server-process'
import { createMigratedDatabase } from '../support/store'
import { processorMsOf } from './processor'

const option = (name: string): string | undefined =>
  process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3)
const seconds = Number(option('seconds') ?? 60)
const SETTLED_MS = 20_000

await measure('SQLite', {})
const url = option('postgres')
if (url !== undefined) {
  const database = await createMigratedDatabase(url)
  await measure('Postgres', { SVC_DATABASE_URL: database.url })
  await database.drop()
}
process.exit(0)

async function measure(where: string, env: Record<string, string>): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-asleep-'))
  const server = await startServerProcess({ dataDir, env })
  await Bun.sleep(SETTLED_MS)
  const [before, began] = [processorMsOf(server.pid), performance.now()]
  await Bun.sleep(seconds * 1_000)
  const share = (processorMsOf(server.pid) - before) / (performance.now() - began)
  process.stdout.write(`asleep on ${where}: ${(share * 100).toFixed(2)} % of a core over ${seconds} s\n`)
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
