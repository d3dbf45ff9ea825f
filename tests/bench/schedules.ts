/**
 * `bun run bench schedules [--schedules=10000] [--postgres=postgres://…]`: schedules of many people that are all due in
 * one minute, on a server that works as it does: how late the run of the last one was made, and how late its work was
 * done. One step each.
 */
import { sql } from 'drizzle-orm'
import { workflowRuns } from '../../src/automation/table'
import { systemClock } from '../../src/kernel/clock'
import { addOwner, send } from '../webhooks/crowd'
import { count, openBench, print } from './setup'

const schedules = count('schedules', 10_000)
const [OWNERS, SPACING_MS, LEAD_MS, LOOK_MS, PATIENCE_MS] = [100, 300_000, 1_000, 100, 300_000]

let aheadMs = 0
const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
const { app, close } = await openBench('schedules', { maxWorkflows: schedules }, clock)
const { store, jobs } = app.container
try {
  const owners = await Promise.all(Array.from({ length: OWNERS }, (_, n) => addOwner(app, n)))
  const flow = {
    triggerType: 'schedule',
    triggerConfig: { cron: '*/5 * * * *', timezone: 'UTC' },
    steps: [{ type: 'transform', name: 'a', config: { template: '{{trigger.scheduledFor}}' } }],
  }
  for (let n = 0; n < schedules; n++) await send(app, owners[n % OWNERS]!.key, 'workflows', { ...flow, name: `${n}` })
  const dueAt = Math.ceil((clock.now() + 1) / SPACING_MS) * SPACING_MS
  aheadMs += dueAt - LEAD_MS - clock.now()
  await measure(dueAt)
} finally {
  await close()
}
process.exit(0)

async function measure(dueAt: number): Promise<void> {
  const loop = jobs.start()
  const t = store.read.of(workflowRuns)
  const ended = () => store.read.$count(t, sql`${t.completed_at} is not null`)
  const cpu = process.cpuUsage()
  let madeCpu = 0
  for (const until = performance.now() + PATIENCE_MS; (await ended()) < schedules; ) {
    if (madeCpu === 0 && (await store.read.$count(t)) >= schedules) madeCpu = spent(cpu)
    if (performance.now() > until) throw new Error(`only ${await ended()} of ${schedules} ran`)
    await Bun.sleep(LOOK_MS)
  }
  const all = spent(cpu)
  await loop.stop()
  const last = (column: typeof t.created_at | typeof t.completed_at) =>
    store.read.select({ at: sql<number>`max(${column})`.mapWith(Number) }).from(t)
  const [[made], [done]] = [await last(t.created_at), await last(t.completed_at)]
  const distinct = await store.read
    .select({ count: sql<number>`count(distinct ${t.workflow_id})`.mapWith(Number) })
    .from(t)
  const late = (at: number) => `${((at - dueAt) / 1_000).toFixed(2)} s`
  print(
    `${store.dialect}: ${distinct[0]!.count} of ${schedules} schedules ran; the last run was made ${late(made!.at)} late ` +
      `(${madeCpu.toFixed(2)} s of processor until then), the last was done ${late(done!.at)} late (${all.toFixed(2)} s)`,
  )
}

function spent(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1e6
}
