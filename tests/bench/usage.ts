/**
 * How long a report of 30 days over many calls of one owner takes, whether it is exact, what following the
 * calls costs, and how much memory an export of 1,000,000 rows needs. `bun run bench usage --rows=10000000`;
 * with 10,000,000 rows some minutes and 5 GB of disk.
 */
import { join } from 'node:path'
import { createRollup } from '../../src/usage'
import { addOwner } from '../webhooks/crowd'
import { benchConfig, benchFolder, count, openQuietly, print } from './setup'
import { rankOf, watchTurns } from './turns'
import { benchExports } from './usage-exports'
import { benchReports } from './usage-reports'
import { seedCalls } from './usage-rows'

const ROWS = count('rows', 10_000_000)
const EXPORT_ROWS = Math.min(ROWS, 1_000_000)
/** A running server is up to 2 s behind, at 2,000 calls a second: so many a report adds up itself. */
const UNROLLED = 4_000
const DAY_MS = 86_400_000

const folder = benchFolder('usage')
const path = join(folder, 'svc.db')
const config = benchConfig(folder)

export type Person = { owner: string; key: string; keyId: string }

const [big, other] = await people()
const now = Date.now()
const began = performance.now()
const keys = [big.keyId, ...Array.from({ length: 4 }, () => crypto.randomUUID())]
seedCalls({ path, owner: other.owner, keys: [other.keyId], rows: EXPORT_ROWS, from: now - 80 * DAY_MS, to: now })
seedCalls({ path, owner: big.owner, keys, rows: ROWS, from: now - 30 * DAY_MS, to: now })
print(`seeded ${ROWS + EXPORT_ROWS} calls in ${seconds(began)} s`)
await roll()
await benchReports({ config, path, person: big, now })
await benchExports({ dataDir: folder, person: other, rows: EXPORT_ROWS })
process.exit(0)

async function people(): Promise<[Person, Person]> {
  const app = await openQuietly(config)
  const made: [Person, Person] = [await addOwner(app, 0), await addOwner(app, 1)]
  await app.close()
  return made
}

/** All but the last of them, with the product's own batches. */
async function roll(): Promise<void> {
  const app = await openQuietly(config)
  const rollBatch = createRollup({ store: app.container.store })
  const [began, before, stop] = [performance.now(), process.cpuUsage(), watchTurns()]
  let rolled = 0
  while (rolled < ROWS + EXPORT_ROWS - UNROLLED) rolled += (await rollBatch()).records
  const { byClock, ran } = stop()
  const { user, system } = process.cpuUsage(before)
  print(
    `rolled ${rolled} of them in ${seconds(began)} s: ${((user + system) / rolled).toFixed(1)} us of processor a call, ` +
      `in one turn ${rankOf(ran, 0.99)} ms of it at p99, ${rankOf(ran, 1)} ms at most (by the clock, waits for the ` +
      `disk included, ${rankOf(byClock, 0.99)} and ${rankOf(byClock, 1)} ms; limit 200 ms)`,
  )
  await app.close()
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1_000).toFixed(1)
}
