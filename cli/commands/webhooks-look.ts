import { defineCommand } from '../command'
import { CheckFailed, EXIT, expectData } from '../failure'
import { column } from '../output/columns'
import { prepareSecret, SECRET_FLAGS, SIGNING_FATE } from '../secret'
import type { Shell } from '../shell'
import { webhookAt, webhookIds } from '../webhook-at'
import { argument, duration, flag, optional } from '../words'
import { deliveryColumns, WEBHOOK } from './webhooks-columns'

const common = { apis: ['tenant', 'operator'] } as const
const args = { id: argument(WEBHOOK) }
const POLL_MS = 250
const PATIENCE_MS = 20_000

const testWebhook = defineCommand({
  ...common,
  columns: deliveryColumns,
  offline: false,
  path: 'webhooks test',
  summary: 'Send a test event and wait for the result',
  about: 'Exits 9 when the delivery fails, and 8 when there is no result in time. With --no-wait it only sends.',
  examples: ['webhooks test 31aa07c2-…', 'webhooks test 31aa07c2-… --within 5s --json'],
  impact: 'write',
  exits: [3, 5, 6, 8, 9],
  args,
  flags: { within: duration('TIME', 'longest wait; 20s by default'), noWait: flag('do not wait') },
  async run(shell, { id, within = PATIENCE_MS, noWait }) {
    if (shell.planned(`send a test event to webhook ${id}`)) return
    const { hook } = await webhookAt(shell, id)
    const { event_id } = expectData(await hook.test.post())
    shell.note(`Sent ${event_id}.`)
    if (noWait) return
    const until = shell.clock.monotonic() + within
    for (;;) {
      const { deliveries } = expectData(await hook.deliveries.get({ query: {} }))
      const found = deliveries.find((one) => one.event_id === event_id)
      if (found) {
        shell.print.item(found, deliveryColumns)
        if (found.status === 'failed') throw new CheckFailed()
        return
      }
      if (shell.clock.monotonic() >= until || shell.signal.aborted) break
      await shell.clock.sleep(POLL_MS, shell.signal)
    }
    shell.exitCode = shell.signal.aborted ? EXIT.interrupted : EXIT.pending
    shell.note(`No result yet. See: svc-admin deliveries list --webhook ${id}`)
  },
})

const rotated = [column('id', 'ID')]

const rotateSecret = defineCommand({
  ...common,
  columns: rotated,
  path: 'webhooks rotate-secret',
  summary: 'Create a new signing secret and show it once',
  about:
    'The old secret stops working at once. With --grace the header webhook-signature also contains a signature with the old secret for that long.',
  examples: ['webhooks rotate-secret 31aa07c2-…', 'webhooks rotate-secret 31aa07c2-… --grace 1h --yes'],
  impact: 'write',
  danger: 'secret once',
  exits: [3, 5],
  args,
  flags: { grace: duration('TIME', 'how long to sign with the old secret too, up to 24h'), ...SECRET_FLAGS },
  async run(shell, { id, grace, ...methods }) {
    if (shell.planned(`create a new signing secret for webhook ${id}`)) return
    shell.confirm(`The old secret of webhook ${id} ends ${grace ? 'after the grace period' : 'now'}. Continue?`)
    const outlet = prepareSecret(shell, 'signing_secret', methods, SIGNING_FATE)
    try {
      const body = grace === undefined ? {} : { grace_seconds: Math.round(grace / 1_000) }
      const { hook } = await webhookAt(shell, id)
      outlet.deliver(expectData(await hook['rotate-secret'].post(body)), rotated)
    } catch (error) {
      outlet.abandon()
      throw error
    }
  },
})

const statColumns = [
  column('webhook_id', 'WEBHOOK'),
  column('enabled', 'ENABLED', { kind: 'flag' }),
  column('deliveries.total', 'ATTEMPTS', { kind: 'number' }),
  column('deliveries.successes', 'SUCCESSES', { kind: 'number' }),
  column('deliveries.failures', 'FAILURES', { kind: 'number' }),
  column('deliveries.success_rate_percent', 'SUCCESS %', { kind: 'number' }),
  column('deliveries.pending', 'PENDING', { kind: 'number' }),
  column('p95_ms', 'P95 MS', { kind: 'number' }),
  column('consecutive_failures', 'IN A ROW', { kind: 'number' }),
  column('last_delivered_at', 'DELIVERED', { kind: 'time' }),
]

const webhookStats = defineCommand({
  ...common,
  columns: statColumns,
  path: 'webhooks stats',
  summary: 'Show delivery statistics of a webhook',
  about:
    'Counts attempts since the webhook was created, and deliveries that wait. Without an id it counts all webhooks. P95 is of the fifty newest attempts. A webhook is disabled after 120 hours without a success and twenty failures in a row.',
  examples: ['webhooks stats', 'webhooks stats 31aa07c2-… --watch'],
  impact: 'read',
  exits: [3],
  watchable: true,
  args: { id: optional(`${WEBHOOK}; all of yours by default`) },
  async run(shell, { id }) {
    if (id !== undefined) return shell.print.item(await statsOf(shell, id), statColumns)
    const found = []
    for (const one of await webhookIds(shell)) found.push(await statsOf(shell, one))
    shell.print.list(found, statColumns, 'No webhooks yet.')
  },
})

async function statsOf(shell: Shell, id: string) {
  const { hook } = await webhookAt(shell, id)
  const stats = expectData(await hook.stats.get())
  const { deliveries } = expectData(await hook.deliveries.get({ query: {} }))
  const took = deliveries.map(({ duration_ms }) => duration_ms).sort((a, b) => a - b)
  return { ...stats, p95_ms: took[Math.ceil(took.length * 0.95) - 1] ?? null }
}

export const webhookLookCommands = [testWebhook, rotateSecret, webhookStats]
