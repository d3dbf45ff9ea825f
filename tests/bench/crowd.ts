/**
 * `bun run bench crowd [--pending=1000000] [--webhooks=1000] [--owners=20] [--events=50] [--seconds=60]
 * [--postgres=postgres://…]`: deliveries to healthy receivers while one receiver of twenty is dead and a million
 * deliveries wait for those (docs/promises.md I18: p99 2 s). Minutes, and 1 GB of disk.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/app/config'
import { openApp } from '../../src/app/open'
import { createLog } from '../../src/kernel/log'
import { createMigratedDatabase } from '../support/store'
import { runCrowd, startReceivers } from '../webhooks/crowd'

const option = (name: string): string | undefined =>
  process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3)
const server = option('postgres')
const webhooks = Number(option('webhooks') ?? 1_000)
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-crowd-'))
const postgres = server === undefined ? null : await createMigratedDatabase(server)
const config = loadConfig({
  dataDir: folder,
  egressAllow: '127.0.0.0/8',
  maxActiveWebhooks: webhooks,
  maxWebhooks: webhooks,
  tiers: { enterprise: { rpm: 1_000_000, tpm: 1_000_000_000 } },
  ...(postgres ? { databaseUrl: postgres.url } : {}),
})
const place = postgres
  ? ({ dialect: 'postgres', url: postgres.url } as const)
  : ({ dialect: 'sqlite', path: join(folder, 'svc.db') } as const)
const log = createLog({ level: 'error', pretty: true, write: (line) => void process.stderr.write(line) })
const [app, receivers] = [await openApp({ config, log }), await startReceivers()]
try {
  const report = await runCrowd(app, place, receivers, {
    webhooks,
    owners: Number(option('owners') ?? 20),
    deadEach: 20,
    pending: Number(option('pending') ?? 1_000_000),
    eventsPerS: Number(option('events') ?? 50),
    seconds: Number(option('seconds') ?? 60),
  })
  process.stdout.write(`${app.store.dialect}: ${JSON.stringify(report)}\n`)
} finally {
  await app.close()
  receivers.stop()
  await postgres?.drop()
  rmSync(folder, { recursive: true, force: true })
}
process.exit(0)
