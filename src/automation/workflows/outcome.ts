import type { AuditLog } from '../../audit'
import type { EventBus } from '../../events'
import type { Jobs } from '../../jobs'
import { type Clock, iso } from '../../kernel/clock'
import { newRequestId } from '../../kernel/ids'
import type { Tx } from '../../kernel/store'
import type { Approvals } from './approvals'
import { workflowCompleted, workflowFailed } from './events'
import { runRepository as rows } from './repository'
import { RUN_JOB, STEP_PAUSE_MS } from './rules'
import type { Done } from './steps/step'
import type { Pause, RunRow, StepRow } from './table'

type Deps = {
  clock: Clock
  audit: Pick<AuditLog, 'recordUnattended'>
  events: Pick<EventBus, 'emit'>
  jobs: Pick<Jobs, 'enqueue' | 'enqueueAll'>
  approvals: Pick<Approvals, 'moved'>
}

/** The run stands elsewhere than it was read: cancelled, gone on, or taken over. */
export class RunMoved extends Error {}

/** How a step ended. */
type Ended = Omit<Done, 'effects'>

export type Outcomes = ReturnType<typeof createOutcomes>

/** What the end of a step does to its run, always in one transaction with what the step wrote (I38). */
export function createOutcomes({ clock, audit, events, jobs, approvals }: Deps) {
  return { stepEnded, paused, end, goOn, goOnAll, moveTo }

  /** Stores a step's result and moves on. Throws {@link RunMoved}, which undoes the transaction. */
  async function stepEnded(tx: Tx, run: RunRow, step: StepRow, { output, cost = 0, next, error = null }: Ended) {
    const now = clock.now()
    const status = error === null ? ('completed' as const) : ('failed' as const)
    const ended: StepRow = {
      ...step,
      status,
      output: { value: output ?? null },
      error,
      cost_micro: cost,
      completed_at: now,
    }
    await rows.putStep(tx, ended)
    const { onSuccess, onFailure } = run.steps[step.index]!
    const place = error === null ? (next ?? onSuccess ?? step.index + 1) : onFailure
    const moved = { executed: run.executed + 1, pause: null, warnings: run.warnings }
    if (place === undefined)
      return end(tx, run, { ...moved, status: 'failed', error: `Step "${step.name}" failed: ${error}` })
    if (place >= run.steps.length) {
      return end(tx, run, { ...moved, status: 'completed', error: null, output: { value: output ?? null } })
    }
    if (run.stepwise) return pausedAfterStep(tx, run, { ...moved, next: place })
    return moveTo(tx, run, { ...moved, status: 'running', next: place })
  }

  async function pausedAfterStep(tx: Tx, run: RunRow, moved: Partial<RunRow>): Promise<RunRow> {
    const until = clock.now() + STEP_PAUSE_MS
    const pause = { kind: 'step' as const, until }
    const paused = await moveTo(tx, run, { ...moved, status: 'paused', pause, turn: run.turn + 1 })
    await goOn(tx, paused, until)
    return paused
  }

  /** Stores that a step waits, and when it goes on by itself. */
  async function paused(tx: Tx, run: RunRow, step: StepRow, pause: Pause): Promise<RunRow> {
    await rows.putStep(tx, { ...step, status: 'paused', output: null, error: null, cost_micro: 0, completed_at: null })
    const moved = await moveTo(tx, run, { status: 'paused', pause, turn: run.turn + 1, warnings: run.warnings })
    await goOn(tx, moved, pause.until)
    return moved
  }

  /** Has a worker continue the run from where it stands. */
  async function goOn(tx: Tx, run: RunRow, runAt?: number): Promise<void> {
    await jobs.enqueue(tx, RUN_JOB, jobOf(run, runAt))
  }

  async function goOnAll(tx: Tx, runs: readonly RunRow[]): Promise<void> {
    const all = runs.map((run) => jobOf(run))
    await jobs.enqueueAll(tx, RUN_JOB, all)
  }

  /** Ends a run: its state, the event and the record. */
  async function end(
    tx: Tx,
    run: RunRow,
    change: Partial<RunRow> & { status: 'completed' | 'failed' },
  ): Promise<RunRow> {
    const completed_at = clock.now()
    const ended = await moveTo(tx, run, { ...change, next: null, pause: null, completed_at })
    const done = ended.status === 'completed'
    const steps = await rows.stepsOf(tx, run.id)
    const data = {
      workflow_id: run.workflow_id,
      run_id: run.id,
      name: run.name,
      status: ended.status,
      trigger_type: run.trigger_type,
      steps_completed: steps.filter(({ status }) => status === 'completed').length,
      error: ended.error,
      started_at: iso(run.created_at),
      completed_at: iso(completed_at),
    }
    await events.emit(tx, done ? workflowCompleted : workflowFailed, run.owner, data, { depth: run.depth + 1 })
    const about = { scope: run.owner, requestId: newRequestId(), userId: run.user_id, keyId: run.api_key_id }
    await audit.recordUnattended(tx, about, {
      action: 'workflow.run',
      entityType: 'workflow',
      entityId: run.workflow_id,
      input: { metadata: { run_id: run.id, trigger: run.trigger_type, steps: ended.executed } },
      output: { status: done ? 200 : 500 },
    })
    return ended
  }

  /** Throws {@link RunMoved} unless the run stands as it was read. */
  async function moveTo(tx: Tx, run: RunRow, change: Partial<RunRow>): Promise<RunRow> {
    const moved = await rows.advance(tx, run, change)
    if (!moved) throw new RunMoved()
    await approvals.moved(tx, run, moved)
    return moved
  }
}

const jobOf = ({ id, owner, turn }: RunRow, runAt?: number) => ({
  owner,
  payload: { run: id, turn },
  uniqueKey: `${id} ${turn}`,
  ...(runAt === undefined ? {} : { runAt }),
})
