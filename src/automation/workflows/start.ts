import type { Behalf } from '../../accounts'
import type { Clock } from '../../kernel/clock'
import type { Tx } from '../../kernel/store'
import type { Outcomes } from './outcome'
import { runRepository as rows } from './repository'
import { type TriggerType, WorkflowRunId } from './schema'
import type { RunRow, WorkflowRow } from './table'

export type Started = {
  trigger: TriggerType
  data: unknown
  behalf: Behalf
  /** Events that led to it. */
  depth?: number
  once?: string | null
  stepwise?: boolean
  /** Why it cannot begin: the run is there, and has failed. */
  failed?: string
}

/** Idempotency-Keys are remembered for a day (contract 1.7). */
const DAY_MS = 86_400_000

type Deps = { clock: Clock; outcomes: Pick<Outcomes, 'goOn' | 'goOnAll' | 'end'> }

/** Begins a run, in the transaction of what causes it. Null when another try of the same request has begun it. */
export const createStart =
  ({ clock, outcomes }: Deps) =>
  async (tx: Tx, workflow: WorkflowRow, started: Started): Promise<RunRow | null> => {
    const now = clock.now()
    if (started.once) await rows.forgetOnce(tx, started.once, now - DAY_MS)
    const run = runOf(workflow, started, now)
    if (!(await rows.insert(tx, run))) return null
    await rows.ran(tx, [workflow.id], now)
    if (started.failed !== undefined) return outcomes.end(tx, run, { status: 'failed', error: started.failed })
    await outcomes.goOn(tx, run)
    return run
  }

/** Begins many, none of which was asked for by a request. */
export const createStartAll =
  ({ clock, outcomes }: Deps) =>
  async (tx: Tx, some: readonly { workflow: WorkflowRow; started: Started }[]): Promise<void> => {
    if (!some.length) return
    const now = clock.now()
    const runs = some.map(({ workflow, started }) => runOf(workflow, started, now))
    await rows.insertAll(tx, runs)
    const ids = some.map(({ workflow }) => workflow.id)
    await rows.ran(tx, ids, now)
    await outcomes.goOnAll(tx, runs)
  }

const runOf = (
  workflow: WorkflowRow,
  { trigger, data, behalf, depth = 0, once = null, stepwise = false }: Started,
  now: number,
): RunRow => ({
  id: WorkflowRunId.create(),
  owner: workflow.owner,
  workflow_id: workflow.id,
  name: workflow.name,
  ...behalf,
  steps: withPrompt(workflow.steps, data),
  trigger_type: trigger,
  trigger_data: data,
  depth,
  status: 'running',
  next: 0,
  executed: 0,
  turn: 0,
  stepwise,
  pause: null,
  warnings: [],
  error: null,
  output: null,
  once,
  created_at: now,
  completed_at: null,
})

/** `triggerData.overridePrompt` takes the place of the first prompt (contract 10). */
function withPrompt(steps: WorkflowRow['steps'], data: unknown): WorkflowRow['steps'] {
  const prompt = (data as { overridePrompt?: unknown } | null)?.overridePrompt
  if (typeof prompt !== 'string' || prompt.trim() === '') return steps
  const first = steps.findIndex(({ type }) => type === 'ai_transform')
  return steps.map((step, at) => (at === first ? { ...step, config: { ...step.config, prompt } } : step))
}

/** Whom the runs of a workflow act for. */
export const behalfIn = ({ user_id, api_key_id, active_org_id }: WorkflowRow): Behalf => ({
  user_id,
  api_key_id,
  active_org_id,
})

export type StartRun = ReturnType<typeof createStart>
export type StartAll = ReturnType<typeof createStartAll>
