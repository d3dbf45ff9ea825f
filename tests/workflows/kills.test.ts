import { afterAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../support/eventually'
import { isLong } from '../support/long'
import { seededRandom } from '../support/random'
import { devKeyOf, type ServerProcess, startServerProcess } from '../support/server-process'
import { createMigratedDatabase, postgresUrl } from '../support/store'

const RUNS = isLong ? 40 : 24
const KILLS = isLong ? 3 : 2
const PATIENCE_MS = 180_000

const random = seededRandom(29)
const root = mkdtempSync(join(tmpdir(), 'svc-workflow-kills-'))
const database = postgresUrl ? await createMigratedDatabase(postgresUrl) : null
const nodes = new Map<string, ServerProcess>()
/** The keys of the calls that came in. */
const heard: string[] = []
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    await Bun.sleep(20)
    heard.push(request.headers.get('idempotency-key')!)
    return new Response('fine')
  },
})
afterAll(async () => {
  for (const node of nodes.values()) await node.kill()
  receiver.stop(true)
  await database?.drop()
  rmSync(root, { recursive: true, force: true })
})

/** A node; on Postgres there are two on one database, each with a folder of its own. */
async function boot(name: string): Promise<void> {
  const env = {
    SVC_EGRESS_ALLOW: '127.0.0.1/32',
    SVC_JOB_LEASE_SECONDS: '5',
    ...(database ? { SVC_DATABASE_URL: database.url } : {}),
  }
  nodes.set(name, await startServerProcess({ dataDir: join(root, name), env }))
}

const CALL = { type: 'http', config: { url: `http://127.0.0.1:${receiver.port}/`, method: 'POST' } }
const STEPS = [
  CALL,
  { type: 'event', config: { eventType: 'tide.turned', payload: { run: '{{run.id}}' } } },
  CALL,
  { type: 'output', config: { format: 'text', template: 'done' } },
].map((step, at) => ({ name: `s${at}`, ...step }))

test('runs of workflows go on although nodes are killed, and no step has its effect twice (I38)', async () => {
  await boot('a')
  const key = devKeyOf(join(root, 'a'))
  if (database) {
    mkdirSync(join(root, 'b'), { mode: 0o700 })
    cpSync(join(root, 'a', 'secrets.json'), join(root, 'b', 'secrets.json'))
    await boot('b')
  }
  const names = [...nodes.keys()]
  const ask = async (path: string, body?: unknown) => {
    const { url } = nodes.get(names[random.between(0, names.length - 1)]!)!
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const order = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(`${url}/api/v1/${path}`, { headers, ...order })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  const { workflow } = await ask('workflows', {
    name: 'Tide',
    triggerType: 'event',
    triggerConfig: { eventPattern: 'order.created' },
    steps: STEPS,
  })
  const { user, active_org_id } = await ask('auth/me')
  const events = Array.from({ length: RUNS }, (_, n) => n)
  const surely = async (once: string, body: unknown) => {
    const { url } = nodes.get(names[random.between(0, names.length - 1)]!)!
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': once }
    const order = { method: 'POST', headers, body: JSON.stringify(body) }
    return (await fetch(`${url}/api/v1/events`, order).catch(() => null))?.ok
  }
  const publishing = (async () => {
    for (const n of events) {
      const order = { orgId: active_org_id ?? user.id, eventType: 'order.created', payload: { n } }
      await eventually(() => surely(`event-${n}`, order), Boolean, PATIENCE_MS)
    }
  })()
  for (let kill = 0; kill < KILLS; kill++) {
    await Bun.sleep(random.between(800, 2_000))
    const victim = names[random.between(0, names.length - 1)]!
    await nodes.get(victim)!.kill()
    await boot(victim)
  }
  await publishing
  type Run = {
    id: string
    status: string
    stepResults: { index: number; status: string; output: { eventId: string } }[]
  }
  const runs = await eventually(
    async (): Promise<Run[]> => (await ask(`workflows/${workflow.id}/runs?limit=100`)).runs,
    (all) => all.length === RUNS && all.every(({ status }) => status !== 'running'),
    PATIENCE_MS,
  )
  expect(runs.map(({ status }) => status)).toEqual(Array(RUNS).fill('completed'))
  for (const { id, stepResults } of runs) {
    expect(stepResults.map(({ index, status }) => [index, status])).toEqual(STEPS.map((_, at) => [at, 'completed']))
    expect([...new Set(heard.filter((one) => one.startsWith(id)))].sort()).toEqual([`${id}-0`, `${id}-2`])
  }
  const { events: told } = await ask('events?eventType=tide.turned&limit=100')
  expect(told.map(({ id }: { id: string }) => id).sort()).toEqual(
    runs.map(({ stepResults }) => stepResults[1]!.output.eventId).sort(),
  )
}, 600_000)
