import { afterAll, expect, test } from 'bun:test'
import { eventually } from '../../support/eventually'
import { isLong } from '../../support/long'
import { startNodes } from '../../support/nodes'
import { seededRandom } from '../../support/random'
import { postgresUrl } from '../../support/store'

const RUNS = isLong ? 40 : 24
const KILLS = isLong ? 3 : 2
const PATIENCE_MS = 180_000

const random = seededRandom(29)
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
const nodes = await startNodes({
  random,
  postgres: postgresUrl,
  env: { SVC_EGRESS_ALLOW: '127.0.0.1/32', SVC_JOB_LEASE_SECONDS: '5' },
  patienceMs: PATIENCE_MS,
})
afterAll(async () => {
  await nodes.close()
  receiver.stop(true)
})
const { ask, surely } = nodes

const CALL = { type: 'http', config: { url: `http://127.0.0.1:${receiver.port}/`, method: 'POST' } }
const STEPS = [
  CALL,
  { type: 'event', config: { eventType: 'tide.turned', payload: { run: '{{run.id}}' } } },
  CALL,
  { type: 'output', config: { format: 'text', template: 'done' } },
].map((step, at) => ({ name: `s${at}`, ...step }))

test('runs of workflows go on although nodes are killed, and no step has its effect twice (I38)', async () => {
  const { workflow } = await ask('workflows', {
    name: 'Tide',
    triggerType: 'event',
    triggerConfig: { eventPattern: 'order.created' },
    steps: STEPS,
  })
  const { user, active_org_id } = await ask('auth/me')
  const events = Array.from({ length: RUNS }, (_, n) => n)
  const publishing = (async () => {
    for (const n of events) {
      const input = { orgId: active_org_id ?? user.id, eventType: 'order.created', payload: { n } }
      await surely('events', input, `event-${n}`)
    }
  })()
  for (let kill = 0; kill < KILLS; kill++) {
    await Bun.sleep(random.between(800, 2_000))
    await nodes.killOne()
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
  const { events: notice } = await ask('events?eventType=tide.turned&limit=100')
  expect(notice.map(({ id }: { id: string }) => id).sort()).toEqual(
    runs.map(({ stepResults }) => stepResults[1]!.output.eventId).sort(),
  )
}, 600_000)
