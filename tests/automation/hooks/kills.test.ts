import { afterAll, expect, test } from 'bun:test'
import { eventually } from '../../support/eventually'
import { isLong } from '../../support/long'
import { startNodes } from '../../support/nodes'
import { seededRandom } from '../../support/random'
import { postgresUrl } from '../../support/store'

/** So many at once, as the most that one run may cost is counted while it runs. */
const AT_ONCE = 8
const ROUNDS = isLong ? 5 : 3
const EVENTS = AT_ONCE * ROUNDS
const LEASE_S = 5

const random = seededRandom(23)
const nodes = await startNodes({
  random,
  postgres: postgresUrl,
  env: { SVC_JOB_LEASE_SECONDS: String(LEASE_S) },
  patienceMs: 60_000,
})
afterAll(nodes.close)
const { ask, surely } = nodes

type Execution = { status: string; eventId: string; costCents: number }
type Event = { id: string; payload: { n: number } }
type Audited = { entityId: string }

test('each firing, each run and each step has its effect once although nodes are killed (I37, I38)', async () => {
  const { user, active_org_id } = await ask('auth/me')
  const hooks: string[] = []
  for (let n = 0; n < EVENTS; n++) {
    const input = {
      event_pattern: `tick.n${n}`,
      skill_slug: 'todo-manager',
      config: { prompt: `What is ${n} plus 1?` },
    }
    hooks.push((await surely('hooks', input, `hook-${n}`)).id)
  }
  const echo = { eventType: 'tock', payload: { n: '{{trigger.payload.n}}' } }
  const steps = [
    { type: 'event', name: 'echo', config: echo },
    { type: 'output', name: 'end', config: { format: 'text', template: 'done' } },
  ]
  const flow = { name: 'Echo', triggerType: 'event', triggerConfig: { eventPattern: 'tick.*' }, steps }
  const { workflow } = await surely('workflows', flow, 'flow')
  for (let round = 0; round < ROUNDS; round++) {
    const some = Array.from({ length: AT_ONCE }, (_, at) => round * AT_ONCE + at)
    await Promise.all(
      some.map((n) =>
        surely('events', { orgId: active_org_id ?? user.id, eventType: `tick.n${n}`, payload: { n } }, `event-${n}`),
      ),
    )
    await nodes.killOne(nodes.isShared ? random.between(0, 200) : 0)
    for (const n of some) {
      await eventually(
        async () => (await surely(`hooks/${hooks[n]}/executions`)).executions as Execution[],
        ([run]) => run !== undefined && run.status !== 'running',
      )
    }
  }
  const runs: Execution[] = []
  for (const id of hooks) runs.push(...((await surely(`hooks/${id}/executions`)).executions as Execution[]))
  expect(runs.map(({ status }) => status)).toEqual(Array(EVENTS).fill('completed'))
  const fired: Audited[] = await surely('audit?action=hook.fired&limit=100')
  expect(fired.map(({ entityId }) => entityId).sort()).toEqual([...hooks].sort())
  const charged: unknown[] = await surely('audit?action=completion.created&limit=100')
  expect(charged).toHaveLength(EVENTS)
  const ended = await eventually(
    () => surely(`workflows/${workflow.id}/runs?status=completed&limit=100`),
    ({ runs: all }: { runs: unknown[] }) => all.length >= EVENTS,
  )
  expect(ended.runs).toHaveLength(EVENTS)
  const echoed: Event[] = (await surely('events?eventType=tock&limit=100')).events
  expect(echoed.map(({ payload }) => payload.n).sort((a, b) => a - b)).toEqual([...Array(EVENTS).keys()])
}, 240_000)
