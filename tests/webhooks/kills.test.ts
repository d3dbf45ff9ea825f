import { afterAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { eventually } from '../support/eventually'
import { isLong } from '../support/long'
import { seededRandom } from '../support/random'
import { devKeyOf, type ServerProcess, startServerProcess } from '../support/server-process'
import { createMigratedDatabase, postgresUrl } from '../support/store'
import { createReceiver } from './support'

const EVENTS = 120
const RECEIVERS = 3
const KILLS = isLong ? 3 : 2
/** Of ten answers, how many are refusals. */
const FAILING = 3

const random = seededRandom(17)
const root = mkdtempSync(join(tmpdir(), 'svc-webhooks-'))
const database = postgresUrl ? await createMigratedDatabase(postgresUrl) : null
const nodes = new Map<string, ServerProcess>()
afterAll(async () => {
  for (const node of nodes.values()) await node.kill()
  await database?.drop()
  rmSync(root, { recursive: true, force: true })
})

/** A node; on Postgres there are two on one database, each with a folder of its own. */
async function boot(name: string): Promise<ServerProcess> {
  const node = await startServerProcess({
    dataDir: join(root, name),
    env: {
      SVC_EGRESS_ALLOW: '127.0.0.1/32',
      SVC_JOB_LEASE_SECONDS: '5',
      SVC_WEBHOOK_RETRY_SCHEDULE: Array(20).fill(1).with(0, 0).join(','),
      ...(database ? { SVC_DATABASE_URL: database.url } : {}),
    },
  })
  nodes.set(name, node)
  return node
}

test('events reach every receiver although nodes are killed and receivers fail (I17)', async () => {
  const receivers = Array.from({ length: RECEIVERS }, () => {
    const accepted = new Set<string>()
    const receiver = createReceiver(({ body }) => {
      const isBad = random.between(1, 10) <= FAILING
      if (!isBad) accepted.add(JSON.parse(body).id)
      return new Response(null, { status: isBad ? 503 : 204 })
    })
    return { ...receiver, accepted }
  })
  await boot('a')
  const key = devKeyOf(join(root, 'a'))
  if (database) {
    mkdirSync(join(root, 'b'), { mode: 0o700 })
    cpSync(join(root, 'a', 'secrets.json'), join(root, 'b', 'secrets.json'))
    await boot('b')
  }
  const names = [...nodes.keys()]
  const ask = async (path: string, body?: unknown, more: Record<string, string> = {}) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more }
    const order = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const { url } = nodes.get(names[random.between(0, names.length - 1)]!)!
    const response = await fetch(`${url}/api/v1/${path}`, { headers, ...order })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  /** Until it is answered: an Idempotency-Key keeps a repeated request to one effect. */
  const surely = (path: string, body: unknown, once: string) =>
    eventually(() => ask(path, body, { 'idempotency-key': once }).catch(() => null))
  const { user, active_org_id } = await ask('auth/me')
  const secrets: string[] = []
  for (const [n, { url }] of receivers.entries()) {
    const made = await surely('webhooks', { url, event_types: ['order.*'] }, `webhook-${n}`)
    secrets.push(made.signing_secret)
  }
  const order = { orgId: active_org_id ?? user.id, eventType: 'order.created' }
  const published: string[] = []
  const publishing = (async () => {
    for (let n = 0; n < EVENTS; n++) {
      const { id } = await surely('events', { ...order, payload: { n } }, `event-${n}`)
      published.push(id)
    }
  })()
  for (let kill = 0; kill < KILLS; kill++) {
    const mark = ((kill + 1) * EVENTS) / (KILLS + 1)
    await eventually(() => published.length >= mark)
    const victim = names[random.between(0, names.length - 1)]!
    await nodes.get(victim)!.kill()
    await boot(victim)
  }
  await publishing
  expect(new Set(published).size).toBe(EVENTS)
  await eventually(() => receivers.every(({ accepted }) => published.every((id) => accepted.has(id))))
  for (const [n, { got }] of receivers.entries()) {
    const texts = Map.groupBy(got, ({ headers }) => headers['webhook-id'])
    expect([...texts.keys()].sort()).toEqual([...published].sort())
    for (const [id, some] of texts) {
      expect(new Set(some.map(({ body }) => body)).size).toBe(1)
      expect(JSON.parse(some[0]!.body).id).toBe(id)
    }
    const verifier = new Webhook(`whsec_${Buffer.from(secrets[n]!).toString('base64')}`)
    for (const { body, headers } of got) verifier.verify(body, headers)
  }
}, 180_000)
