import { type FanOut, subscribe } from '../events'
import { defineJob, type Jobs, type Outcome, type Running } from '../jobs'
import type { OwnerScope } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import type { UserId } from '../kernel/ids'
import type { Reader, Tx } from '../kernel/store'
import { ExpressionFault, evaluate, isTrue, parseExpression } from '../text'
import { runRepository as rows } from './repository'
import { nextOf } from './review'
import { SCHEDULE_JOB } from './rules'
import type { WorkflowId } from './schema'
import { behalfIn, type StartRun } from './start'
import type { WorkflowRow } from './table'

type Deps = {
  clock: Clock
  jobs: Pick<Jobs, 'register' | 'enqueue'>
  fanOut: Pick<FanOut, 'receive'>
  start: StartRun
  /** The time zone of a person's account, for schedules without one (contract 10). */
  zoneOf(reader: Reader, userId: UserId): Promise<string>
}

type Due = { workflow: WorkflowId; owner: OwnerScope; at: number }

/**
 * What starts runs by itself: schedules, as a job for the next time of each, and events, by a subscription. Times that
 * were missed, as while no server ran, make up one run.
 */
export function createTriggers({ clock, jobs, fanOut, start, zoneOf }: Deps) {
  const kind = defineJob<Due, null>({
    ...SCHEDULE_JOB,
    run: (job) => due(job),
    retry: { attempts: 5, delayMs: (attempt) => 2 ** attempt * 1_000 },
    timeLimitMs: 60_000,
    concurrency: 32,
    keepMs: 0,
  })
  jobs.register(kind)
  fanOut.receive('workflow', async (tx, event, targets) => {
    for (const target of targets) await happened(tx, event, target as WorkflowId)
  })
  return { changed }

  /** Follows a change of a workflow: what it is subscribed to, and when it runs next. */
  async function changed(tx: Tx, workflow: WorkflowRow, isThere: boolean): Promise<void> {
    const { owner, id, trigger_type: type, trigger_config: config } = workflow
    const isOn = isThere && workflow.enabled
    const patterns = isOn && type === 'event' ? [config.eventPattern as string] : []
    await subscribe(tx, { owner, subscriber: 'workflow', target: id }, patterns)
    if (isOn && workflow.next_run_at !== null) await jobs.enqueue(tx, kind, jobAt(workflow, workflow.next_run_at))
  }

  /** A changed schedule has another time, so the job of the old one does nothing. */
  async function due({ payload: { workflow: id, owner, at } }: Running<Due>): Promise<Outcome<null>> {
    const effects = async (tx: Tx): Promise<void> => {
      const workflow = await rows.workflowLocked(tx, owner, id)
      if (!workflow?.enabled || workflow.next_run_at !== at) return
      const zone = await zoneOf(tx, workflow.user_id)
      const next = nextOf(workflow.trigger_type, workflow.trigger_config, { zone, after: clock.now() })
      await rows.plan(tx, id, next)
      if (next !== null) await jobs.enqueue(tx, kind, jobAt(workflow, next))
      const data = { scheduledFor: iso(at) }
      await start(tx, workflow, { trigger: 'schedule', data, behalf: behalfIn(workflow) })
    }
    return { effects }
  }

  async function happened(
    tx: Tx,
    event: { id: string; type: string; owner: OwnerScope; envelope: string; depth: number },
    id: WorkflowId,
  ): Promise<void> {
    const workflow = await rows.workflow(tx, event.owner, id)
    if (!workflow?.enabled || workflow.trigger_type !== 'event') return
    const { data, created } = JSON.parse(event.envelope) as { data: unknown; created: string }
    const trigger = { eventId: event.id, eventType: event.type, payload: data, timestamp: created }
    if (!passes(workflow.trigger_config.filter, trigger)) return
    await start(tx, workflow, { trigger: 'event', data: trigger, behalf: behalfIn(workflow), depth: event.depth })
  }
}

/** A computed pattern that is none matches nothing. */
function passes(filter: unknown, trigger: object): boolean {
  if (typeof filter !== 'string') return true
  try {
    return isTrue(evaluate(parseExpression(filter), { trigger }))
  } catch (error) {
    if (error instanceof ExpressionFault) return false
    throw error
  }
}

/** The job of one time of a schedule. */
const jobAt = ({ owner, id }: WorkflowRow, at: number) => ({
  owner,
  payload: { workflow: id, owner, at },
  uniqueKey: `${id} ${at}`,
  runAt: at,
})
