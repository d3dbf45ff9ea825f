import { type FanOut, subscribe } from '../events'
import type { OwnerScope } from '../kernel/caller'
import type { Tx } from '../kernel/store'
import { ExpressionFault, evaluate, isTrue, parseExpression } from '../text'
import { runRepository as rows } from './repository'
import { createSchedules, type ScheduleDeps } from './schedules'
import type { WorkflowId } from './schema'
import { behalfIn, type StartRun } from './start'
import type { WorkflowRow } from './table'

type Deps = ScheduleDeps & { fanOut: Pick<FanOut, 'receive'>; start: StartRun }

/** What starts runs by itself: schedules, and events by a subscription. */
export function createTriggers({ fanOut, start, ...deps }: Deps) {
  const schedules = createSchedules(deps)
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
    if (isOn && workflow.next_run_at !== null) await schedules.follow(tx, workflow.next_run_at)
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
    const verdict = verdictOf(workflow.trigger_config.filter, trigger)
    if (verdict === false) return
    const failed = verdict === true ? {} : { failed: `The trigger's filter failed: ${verdict.fault}.` }
    const behalf = behalfIn(workflow)
    await start(tx, workflow, { trigger: 'event', data: trigger, behalf, depth: event.depth, ...failed })
  }
}

/** Whether an event passes; the fault of a computed pattern that is none, and of one for a text that is too long. */
function verdictOf(filter: unknown, trigger: object): boolean | { fault: string } {
  if (typeof filter !== 'string') return true
  try {
    return isTrue(evaluate(parseExpression(filter), { trigger }))
  } catch (error) {
    if (error instanceof ExpressionFault) return { fault: error.message }
    throw error
  }
}
