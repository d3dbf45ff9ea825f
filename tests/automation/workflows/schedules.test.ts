import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { workflows } from '../../../src/automation/table'
import { fakeClock } from '../../support/clock'
import { isLong } from '../../support/long'
import { postgresUrl } from '../../support/store'
import { createWorld, type Person } from '../../support/world'

const MANY = isLong ? (postgresUrl ? 2_000 : 10_000) : 40
const EACH = 25
const MINUTE = 60_000
const TICKS = 3
/** Each tick is looked at so late. Were the next time counted from then, it would move. */
const LATE_MS = 7_000

const clock = fakeClock('2026-03-01T00:00:30.000Z')
const world = await createWorld({ clock, config: { maxWorkflows: MANY } })
const { jobs } = world.app.container

const PATIENCE_MS = 600_000

test(
  'schedules come when they are due however late they are looked at, each time once',
  async () => {
    const flow = {
      triggerType: 'schedule',
      triggerConfig: { cron: '*/5 * * * *', timezone: 'UTC' },
      steps: [{ type: 'transform', name: 'a', config: { template: '{{trigger.scheduledFor}}' } }],
    }
    const made: { by: Person; id: string }[] = []
    let by = await world.person()
    for (let at = 1; at <= MANY; at++) {
      // The clock stands still, so that one person may only make so many.
      if (at % EACH === 0) by = await world.person()
      const { body } = await by.send('POST', 'workflows', { ...flow, name: `Flow ${at}` })
      made.push({ by, id: body.workflow.id })
    }
    let tookMs = 0
    for (let tick = 1; tick <= TICKS; tick++) {
      clock.advance(Date.parse('2026-03-01T00:00:00.000Z') + tick * 5 * MINUTE + LATE_MS - clock.now())
      const began = performance.now()
      await jobs.runDue('workflow.schedules')
      tookMs += performance.now() - began
    }
    for (const { by, id } of isLong ? made.filter((_, at) => at % 100 === 0) : made) {
      const { runs } = (await by.send('GET', `workflows/${id}/runs`)).body
      expect(
        runs.map(({ triggerData }: { triggerData: { scheduledFor: string } }) => triggerData.scheduledFor),
      ).toEqual(['2026-03-01T00:15:00.000Z', '2026-03-01T00:10:00.000Z', '2026-03-01T00:05:00.000Z'])
      expect((await by.send('GET', `workflows/${id}`)).body.workflow.nextRunAt).toBe('2026-03-01T00:20:00.000Z')
    }
    if (isLong) process.stderr.write(`${MANY} schedules: ${Math.round(tookMs / TICKS)} ms a tick\n`)
  },
  PATIENCE_MS,
)

test('a schedule that cannot start holds up no other, and is tried again', async () => {
  const clock = fakeClock('2026-03-01T00:00:30.000Z')
  const world = await createWorld({ clock })
  const { store, jobs } = world.app.container
  const ada = await world.person()
  const flow = {
    triggerType: 'schedule',
    triggerConfig: { cron: '0 6 * * *', timezone: 'UTC' },
    steps: [{ type: 'transform', name: 'a', config: { template: 'x' } }],
  }
  const made = async (name: string) => (await ada.send('POST', 'workflows', { ...flow, name })).body.workflow.id
  const [first, broken, last] = [await made('First'), await made('Broken'), await made('Last')]
  const rewrite = (cron: string) =>
    store.write(async (tx) => {
      const t = tx.of(workflows)
      await tx
        .update(t)
        .set({ trigger_config: { cron, timezone: 'UTC' } })
        .where(eq(t.id, broken))
    })
  const times = async (id: string) =>
    (await ada.send('GET', `workflows/${id}/runs`)).body.runs.map(
      ({ triggerData }: { triggerData: { scheduledFor: string } }) => triggerData.scheduledFor,
    )
  // No request stores such a schedule.
  await rewrite('never')
  clock.advance(Date.parse('2026-03-01T06:00:00.000Z') - clock.now())
  await jobs.runDue('workflow.schedules')
  for (const id of [first, last]) expect(await times(id)).toEqual(['2026-03-01T06:00:00.000Z'])
  expect(await times(broken)).toEqual([])
  await rewrite('0 6 * * *')
  clock.advance(60_000)
  await jobs.runDue('workflow.schedules')
  expect(await times(broken)).toEqual(['2026-03-01T06:01:00.000Z'])
  expect((await ada.send('GET', `workflows/${broken}`)).body.workflow.nextRunAt).toBe('2026-03-02T06:00:00.000Z')
})
