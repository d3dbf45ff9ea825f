/**
 * `bun run bench jobs [--jobs=10000]`: no-op jobs drained on SQLite by one process with full durability, each with a
 * commit of its own.
 */
import { join } from 'node:path'
import { createJobs, defineJob } from '../../src/jobs'
import { systemClock } from '../../src/kernel/clock'
import { migrate, openSqlite } from '../../src/kernel/store'
import { benchFolder, count, print } from './setup'

const wanted = count('jobs', 10_000)
const path = join(benchFolder('jobs'), 'svc.db')
await migrate({ dialect: 'sqlite', path })
const rethrow = (error: unknown) => {
  throw error
}
const store = openSqlite({ path, onDiskFailure: rethrow })
const jobs = createJobs({
  store,
  clock: systemClock,
  node: 'bench',
  leaseMs: 30_000,
  onError: (_, error) => rethrow(error),
})
const kind = defineJob<null>({
  name: 'bench.nothing',
  retry: { attempts: 1, delayMs: () => 0 },
  timeLimitMs: 60_000,
  concurrency: 100,
  run: async () => ({}),
})
jobs.register(kind)
await store.write(async (tx) => {
  for (let n = 0; n < wanted; n++) await jobs.enqueue(tx, kind, { owner: `user:${n % 100}`, payload: null })
})
const began = performance.now()
const cpu = process.cpuUsage()
await jobs.runDue()
const seconds = (performance.now() - began) / 1_000
const { user, system } = process.cpuUsage(cpu)
const processor = (user + system) / 1e6
print(
  `${wanted} jobs in ${seconds.toFixed(2)} s: ${Math.round(wanted / seconds)} a second, ${Math.round(wanted / processor)} a second of processor`,
)
await store.close()
