/**
 * `bun run bench deliveries [--events=10000] [--webhooks=20] [--postgres=postgres://…]`: events that wait are delivered
 * to a healthy receiver on this machine, with full durability, beside the same requests alone, with and without kept
 * connections. The receiver is a process of its own. Ratios of one run count.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/app/config'
import { openApp } from '../../src/app/open'
import { systemClock } from '../../src/kernel/clock'
import { createLog } from '../../src/kernel/log'
import { createOutbound } from '../../src/kernel/outbound'
import { createSend } from '../../src/webhooks/deliver'
import { createMigratedDatabase } from '../support/store'
import { type Hook, seedBacklog } from '../webhooks/backlog'
import { startReceivers } from '../webhooks/crowd'

const option = (name: string): string | undefined =>
  process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3)
const events = Number(option('events') ?? 10_000)
const webhooks = Number(option('webhooks') ?? 20)
const server = option('postgres')
const SIDE_BY_SIDE = 16
const LOCAL = '127.0.0.0/8'

const print = (line: string) => process.stdout.write(`${line}\n`)
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

const folder = mkdtempSync(join(tmpdir(), 'svc-bench-deliveries-'))
const postgres = server === undefined ? null : await createMigratedDatabase(server)
const config = loadConfig({
  dataDir: folder,
  egressAllow: LOCAL,
  maxActiveWebhooks: webhooks,
  ...(postgres ? { databaseUrl: postgres.url } : {}),
})
const place = postgres
  ? ({ dialect: 'postgres', url: postgres.url } as const)
  : ({ dialect: 'sqlite', path: join(folder, 'svc.db') } as const)
const log = createLog({ level: 'error', pretty: true, write: (line) => void process.stderr.write(line) })
const app = await openApp({ config, log })
try {
  const { store, jobs } = app.container
  const hooks = await subscribe()
  await seedBacklog({ store, place, jobs, hooks, each: Math.floor(events / hooks.length), now: Date.now() })
  await measure(`deliveries on ${store.dialect}`, events, () => jobs.runDue('webhooks.steady'))
} finally {
  await app.close()
  receivers.stop()
  await postgres?.drop()
  rmSync(folder, { recursive: true, force: true })
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
  const { store, orgs, keys } = app.container
  const caller = { type: 'operator', role: 'admin', name: 'bench', transport: 'local', reason: null } as const
  const call = { caller, requestId: 'req_bench', route: 'BENCH /webhooks', signal: new AbortController().signal }
  const { key, owner } = await store.write(async (tx) => {
    const user = await orgs.createUser(tx, { email: `bench${Date.now()}@localhost`, name: 'Bench' })
    const input = { name: 'bench', userId: user.id, orgId: null, tier: 'enterprise' } as const
    return { key: (await keys.createIn(tx, call, input)).key, owner: `user:${user.id}` as const }
  })
  const hooks: Hook[] = []
  for (let n = 0; n < webhooks; n++) {
    const request = new Request('http://localhost/api/v1/webhooks', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url, event_types: ['order.*'] }),
    })
    hooks.push({ id: (await (await app.api.handle(request)).json()).id, owner })
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
