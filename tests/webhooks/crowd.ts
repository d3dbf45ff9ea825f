import { join } from 'node:path'
import type { OpenApp } from '../../src/app/open'
import { webhookOutbox } from '../../src/webhooks/table'
import { type Hook, type Place, seedBacklog } from './backlog'

export type CrowdInput = {
  webhooks: number
  owners: number
  /** One of so many is dead: it never answers, or its port is closed. */
  deadEach: number
  /** Deliveries that wait for the dead ones from the beginning. */
  pending: number
  eventsPerS: number
  seconds: number
}

type CrowdReport = {
  published: number
  expected: number
  delivered: number
  p50: number
  p99: number
  worst: number
  /** Deliveries that still wait, and the share of a core that this process used. */
  waiting: number
  core: number
  seedS: number
}

const KINDS = 10
const CLOSED_PORT = 1999

/** Starts the receivers of `receiver-process.ts`. */
export async function startReceivers() {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'receiver-process.ts')], { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  const [good, silent] = new TextDecoder().decode(value).split(' ').map(Number) as [number, number]
  const at = (port: number) => `http://127.0.0.1:${port}/hook`
  const ask = async (): Promise<{ count: number; late: number[] }> => (await fetch(at(good))).json()
  return { good: at(good), silent: at(silent), closed: at(CLOSED_PORT), ask, stop: () => child.kill() }
}

type Receivers = Awaited<ReturnType<typeof startReceivers>>
type Owner = { owner: Hook['owner']; key: string; keyId: string; userId: string }

/**
 * docs/promises.md I18: events are published for the webhooks of many owners, some of them dead with much waiting.
 * Measures how long after its publication an event reached each of the others.
 */
export async function runCrowd(app: OpenApp, place: Place, receivers: Receivers, input: CrowdInput) {
  const { store, jobs } = app.container
  const owners: Owner[] = []
  for (let n = 0; n < input.owners; n++) owners.push(await addOwner(app, n))
  /** How many healthy webhooks an event of this owner and kind reaches. */
  const reached = new Map<string, number>()
  const dead: Hook[] = []
  for (let n = 0; n < input.webhooks; n++) {
    const at = n % input.owners
    const kind = Math.floor(n / input.owners) % KINDS
    const isDead = n % input.deadEach === 0
    const url = isDead ? (dead.length % 2 ? receivers.silent : receivers.closed) : receivers.good
    const { id } = await send(app, owners[at]!.key, 'webhooks', { url, event_types: [`order.t${kind}`] })
    if (isDead) dead.push({ id, owner: owners[at]!.owner })
    else reached.set(`${at} ${kind}`, (reached.get(`${at} ${kind}`) ?? 0) + 1)
  }
  const seeding = performance.now()
  const each = Math.ceil(input.pending / dead.length)
  await seedBacklog({ store, place, jobs, hooks: dead, each, now: Date.now() })
  const seedS = Math.round((performance.now() - seeding) / 1_000)
  const loop = jobs.start()
  const [cpu, began] = [process.cpuUsage(), performance.now()]
  let [published, expected] = [0, 0]
  try {
    for (; published < input.eventsPerS * input.seconds; published++) {
      const wait = began + (published * 1_000) / input.eventsPerS - performance.now()
      if (wait > 0) await Bun.sleep(wait)
      const [at, kind] = [published % input.owners, Math.floor(published / input.owners) % KINDS]
      const { userId, key } = owners[at]!
      await send(app, key, 'events', { orgId: userId, eventType: `order.t${kind}`, payload: { at: Date.now() } })
      expected += reached.get(`${at} ${kind}`) ?? 0
    }
    const { user, system } = process.cpuUsage(cpu)
    const core = (user + system) / 1_000 / (performance.now() - began)
    const until = performance.now() + 60_000
    while ((await receivers.ask()).late.length < expected && performance.now() < until) await Bun.sleep(50)
    const late = (await receivers.ask()).late.sort((a, b) => a - b)
    const rank = (share: number) => late[Math.ceil(late.length * share) - 1] ?? -1
    const waiting = await store.read.$count(store.read.of(webhookOutbox))
    const report: CrowdReport = {
      published,
      expected,
      delivered: late.length,
      p50: rank(0.5),
      p99: rank(0.99),
      worst: rank(1),
      waiting,
      core,
      seedS,
    }
    return report
  } finally {
    await loop.stop()
  }
}

export async function addOwner(app: OpenApp, n: number): Promise<Owner> {
  const { store, orgs, keys } = app.container
  const caller = { type: 'operator', role: 'admin', name: 'crowd', transport: 'local', reason: null } as const
  const call = { caller, requestId: 'req_crowd', route: 'CROWD /', signal: new AbortController().signal }
  return store.write(async (tx) => {
    const user = await orgs.createUser(tx, { email: `crowd${n}-${Date.now()}@localhost`, name: 'Crowd' })
    const input = { name: 'crowd', userId: user.id, orgId: null, tier: 'enterprise' } as const
    const { key, id } = await keys.createIn(tx, call, input)
    return { owner: `user:${user.id}` as const, userId: user.id, key, keyId: id as string }
  })
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export async function send(app: OpenApp, key: string, path: string, body: object): Promise<any> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const request = new Request(`http://localhost/api/v1/${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  const response = await app.api.handle(request)
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json()
}
