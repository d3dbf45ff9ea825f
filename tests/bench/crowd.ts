/**
 * `bun run bench crowd [--pending=1000000] [--webhooks=1000] [--owners=20] [--events=50] [--seconds=60]
 * [--postgres=postgres://…]`: deliveries to healthy receivers while one receiver of twenty is dead and a million
 * deliveries wait for those (docs/promises.md I18: p99 2 s). Minutes, and 1 GB of disk.
 */
import { runCrowd, startReceivers } from '../webhooks/crowd'
import { count, openBench, print } from './setup'

const webhooks = count('webhooks', 1_000)
const limits = { maxActiveWebhooks: webhooks, maxWebhooks: webhooks }
const { app, place, close } = await openBench('crowd', { egressAllow: '127.0.0.0/8', ...limits })
const receivers = await startReceivers()
try {
  const report = await runCrowd(app, place, receivers, {
    webhooks,
    owners: count('owners', 20),
    deadEach: 20,
    pending: count('pending', 1_000_000),
    eventsPerS: count('events', 50),
    seconds: count('seconds', 60),
  })
  print(`${app.store.dialect}: ${JSON.stringify(report)}`)
} finally {
  await close()
  receivers.stop()
}
process.exit(0)
