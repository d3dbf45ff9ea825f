/** A process that works on jobs until it is killed: `bun worker-process.ts DIALECT PLACE`. */
import { createJobs } from '../../src/jobs'
import { systemClock } from '../../src/kernel/clock'
import { openPostgres, openSqlite } from '../../src/kernel/store'
import { freeKind, heldKind } from './held'
import { chaosKind, LEASE_MS } from './kills'

const [dialect, place] = process.argv.slice(2) as [string, string]
const onDiskFailure = (error: unknown) => {
  throw error
}
const store =
  dialect === 'postgres'
    ? openPostgres({ url: place, maxConnections: 4 })
    : openSqlite({ path: place, onDiskFailure, busyPatienceMs: 10_000 })
const onError = (name: string, error: unknown) => process.stderr.write(`${name}: ${error}\n`)
const jobs = createJobs({ store, clock: systemClock, node: `worker ${process.pid}`, leaseMs: LEASE_MS, onError })
for (const kind of [chaosKind, heldKind, freeKind]) jobs.register(kind)
await jobs.start()
