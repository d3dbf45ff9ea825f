/**
 * `bun run bench deliveries [--events=10000] [--webhooks=20] [--postgres=postgres://…]`: events that wait are delivered
 * to a healthy receiver on this machine, with full durability, beside the same requests alone, with and without kept
 * connections. The receiver is a process of its own. Ratios of one run count.
 */
import { systemClock } from '../../src/kernel/clock'
import { createOutbound } from '../../src/kernel/outbound'
import { createSend } from '../../src/webhooks/deliver'
import { type Hook, seedBacklog } from '../webhooks/backlog'
import { addOwner, send as post, startReceivers } from '../webhooks/crowd'
import { count, openBench, print } from './setup'

const events = count('events', 10_000)
const webhooks = count('webhooks', 20)
const SIDE_BY_SIDE = 16
const LOCAL = '127.0.0.0/8'

const receivers = await startReceivers()
const url = receivers.good

const outbound = createOutbound({ allow: [LOCAL] })
const message = { id: 'evt_1', body: JSON.stringify({ text: 'x'.repeat(300) }), secret: 'f'.repeat(64) }
const send = createSend({ outbound, clock: systemClock, schedule: [0], random: () => 0 })
const plain = () =>
  outbound.fetchPublic(url, {
    method: 'POST',
    body: message.body,
    statusOnly: true,
    maxBytes: 65_536,
    timeoutMs: 15_000,
  })
await measure('requests alone, a connection each', events, () => alone(plain))
await measure('requests alone, signed, as deliveries make them', events, () =>
  alone(() => send({ url, message, attempt: 1 })),
)

const { app, place, close } = await openBench('deliveries', { egressAllow: LOCAL, maxActiveWebhooks: webhooks })
try {
  const { store, jobs } = app.container
  const hooks = await subscribe()
  await seedBacklog({ store, place, jobs, hooks, each: Math.floor(events / hooks.length), now: Date.now() })
  await measure(`deliveries on ${store.dialect}`, events, () => jobs.runDue('webhooks.steady'))
} finally {
  await close()
  receivers.stop()
}
process.exit(0)

async function alone(once: () => Promise<unknown>): Promise<void> {
  let left = events
  const one = async () => {
    while (left-- > 0) await once()
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, one))
}

async function subscribe(): Promise<Hook[]> {
  const { key, owner } = await addOwner(app, 0)
  const hooks: Hook[] = []
  for (let n = 0; n < webhooks; n++) {
    const { id } = await post(app, key, 'webhooks', { url, event_types: ['order.*'] })
    hooks.push({ id, owner })
  }
  return hooks
}

async function measure(what: string, count: number, work: () => Promise<unknown>): Promise<void> {
  const [before, cpu, began] = [(await receivers.ask()).count, process.cpuUsage(), performance.now()]
  await work()
  const seconds = (performance.now() - began) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  const arrived = (await receivers.ask()).count - before
  if (arrived < count) print(`only ${arrived} of ${count} arrived`)
  const perCpu = Math.round((count / (user + system)) * 1e6)
  print(`${what}: ${Math.round(count / seconds)} a second, ${perCpu} a second of processor`)
}
