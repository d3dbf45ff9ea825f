/**
 * `bun run bench asleep [--seconds=60] [--postgres=postgres://…]`: what a server that nobody asks anything costs, in
 * percent of a core as the kernel counts it (budget 0.5), after it has settled.
 */
import { createMigratedDatabase } from '../support/store'
import { processorMsOf } from './processor'
import { count, option, print, serveBench } from './setup'

const seconds = count('seconds', 60)
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
  const server = await serveBench('asleep', env)
  await Bun.sleep(SETTLED_MS)
  const [before, began] = [processorMsOf(server.pid), performance.now()]
  await Bun.sleep(seconds * 1_000)
  const share = (processorMsOf(server.pid) - before) / (performance.now() - began)
  print(`asleep on ${where}: ${(share * 100).toFixed(2)} % of a core over ${seconds} s`)
  await server.stop()
}
