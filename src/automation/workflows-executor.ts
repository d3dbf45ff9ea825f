import type { BackgroundCallers } from '../accounts'
import type { AuditLog } from '../audit'
import type { EventBus } from '../events'
import { defineJob, type Jobs, type Outcome, type Running } from '../jobs'
import type { Call, TenantCaller } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { failpoint } from '../kernel/failpoint'
import { newRequestId } from '../kernel/ids'
import type { Store, Tx } from '../kernel/store'
import { validationError } from '../kernel/validation'
import { ExpressionFault, fillIn, type RunValues, TooMuchText, written } from '../text'
import { workflowCompleted, workflowFailed } from './events'
import type { Pause, RunRow, StepRow } from './table'
import type { Approvals } from './workflows-approvals'
import {
  MAX_EXECUTED,
  MAX_OUTPUT_BYTES,
  MAX_RUN_BYTES,
  RUN_JOB,
  runRepository as rows,
  STEP_PAUSE_MS,
  sumOfOutputs,
  TIME_LIMIT_MS,
} from './workflows-repository'
import { CHECKS, UNFILLED } from './workflows-review'
import type { Step, StepType, WorkflowRunId } from './workflows-schema'
import {
  type createSteps,
  Paused,
  STORED,
  StepFailure,
  type StepInput,
  type StepOutput,
  type StepRunner,
} from './workflows-steps'

type Deps = {
  store: Store
  clock: Clock
  jobs: Pick<Jobs, 'register'>
  unattended: BackgroundCallers
  outcomes: Outcomes
  approvals: Pick<Approvals, 'turn'>
  steps: ReturnType<typeof createSteps>
  /** Called in the transaction in which a run pauses or ends. */
  onRest(run: RunRow): void
}

type Due = { run: WorkflowRunId; turn: number }
const MAX_WARNINGS = 20
/** Each worker that dies during the run uses one attempt. */
const MAX_TRIES = 12
/** Temporary errors, after which the step is retried. */
const PASSING = new Set(['storage_unavailable', 'shutting_down', 'rate_limit_exceeded', 'too_many_requests'])

/**
 * The job that runs the steps of a workflow. The effects of a step are stored with its result before the next step
 * begins. After a crash the run continues at the interrupted step, and no other step is repeated (docs/promises.md
 * I38).
 */
export function registerRuns({ store, clock, jobs, unattended, outcomes, approvals, steps, onRest }: Deps): void {
  jobs.register(
    defineJob<Due, null>({
      ...RUN_JOB,
      run,
      retry: { attempts: MAX_TRIES, delayMs: (attempt) => Math.min(2 ** attempt, 60) * 1_000 },
      timeLimitMs: TIME_LIMIT_MS,
      concurrency: 64,
      concurrencyPerKey: 16,
      keepMs: 0,
      onFailed: async (tx, { payload }, error) => {
        const stuck = await rows.find(tx, payload.run)
        if (stuck && stuck.turn === payload.turn && stuck.status !== 'completed' && stuck.status !== 'failed') {
          onRest(await outcomes.end(tx, stuck, { status: 'failed', error }))
        }
      },
    }),
  )

  async function run(job: Running<Due>): Promise<Outcome<null>> {
    let row = await begun(job.payload)
    try {
      while (row?.status === 'running') row = await step(row, job.signal)
    } catch (error) {
      if (!(error instanceof RunMoved)) throw error
    }
    if (row) onRest(row)
    return {}
  }

  /** The run, resumed if its pause has expired. Null when it has moved on without this job. */
  async function begun({ run: id, turn }: Due): Promise<RunRow | null> {
    const row = await rows.find(store.read, id)
    if (!row || row.turn !== turn) return null
    if (row.status !== 'paused') return row.status === 'running' ? row : null
    return store.write(async (tx) => {
      await approvals.turn(tx, row)
      const waiting = (await rows.steps(tx, [id])).at(-1)!
      const { kind, onTimeout } = row.pause!
      if (kind === 'step') return outcomes.end(tx, row, { status: 'failed', error: 'No one continued it in time.' })
      if (kind === 'delay') return outcomes.stepEnded(tx, row, waiting, { output: {} })
      const approved = onTimeout === 'approve'
      const output = { approved, by: null, comment: 'No one answered in time.' }
      return outcomes.stepEnded(tx, row, waiting, { output, error: approved ? null : 'no one approved it in time' })
    })
  }

  /** Runs the next step. Returns the updated run. */
  async function step(row: RunRow, signal: AbortSignal): Promise<RunRow> {
    signal.throwIfAborted()
    if (row.executed >= MAX_EXECUTED) return fail(row, `It took more than ${MAX_EXECUTED} steps.`)
    const caller = await unattended(row)
    if (!caller) return fail(row, 'The key or account that it runs as no longer has access.')
    const at = row.next!
    const { name, type } = row.steps[at]!
    const made = { status: 'completed' as const, output: null, error: null, cost_micro: 0, completed_at: null }
    const begun = { run_id: row.id, seq: row.executed, index: at, name, type, ...made, started_at: clock.now() }
    const done = await rows.steps(store.read, [row.id])
    let stored: RunRow | null = null
    const keep = async (tx: Tx, result: StepOutput): Promise<void> => {
      stored = await outcomes.stepEnded(tx, row, begun, bounded(result, done))
    }
    try {
      const doing = prepare(row, { at, done, caller, signal, keep })
      const result = await (steps[row.steps[at]!.type] as StepRunner<StepType>)(doing)
      failpoint('workflow_step_done_before_commit')
      if (result === STORED) return stored!
      if (result instanceof Paused) return await store.write((tx) => outcomes.paused(tx, row, begun, result.pause))
      return await store.write(async (tx) => {
        await result.effects?.(tx)
        return outcomes.stepEnded(tx, row, begun, bounded(result, done))
      })
    } catch (error) {
      const problem = problemOf(error, signal)
      return store.write((tx) => outcomes.stepEnded(tx, row, begun, { output: null, error: problem }))
    } finally {
      failpoint('workflow_step_committed')
    }
  }

  type Around = {
    at: number
    done: readonly StepRow[]
    caller: TenantCaller
    signal: AbortSignal
    keep: StepInput<StepType>['keep']
  }

  function prepare(row: RunRow, { at, done, caller, signal, keep }: Around): StepInput<StepType> {
    const { type, config } = row.steps[at]!
    const values = valuesOf(row, done, clock.now())
    const call: Call = { caller, requestId: newRequestId(), route: 'workflow', signal, depth: row.depth + 1 }
    // The text of the previous step, else its output as JSON. Empty for the first step.
    const output = done.at(-1)?.output?.value ?? null
    const text = (output as { text?: unknown } | null)?.text
    const previous = typeof text === 'string' ? text : written(output)
    const filled = filledConfig(row, { type, config }, values)
    writeTexts(type, filled)
    assertFilled(type, filled)
    return {
      config: withPrevious(type, { config, filled }, previous) as never,
      at,
      run: row,
      call,
      previous,
      values,
      key: `${row.id}-${row.executed}`,
      keep,
    }
  }

  function filledConfig(
    row: RunRow,
    { type, config }: Pick<Step, 'type' | 'config'>,
    values: StepInput<StepType>['values'],
  ) {
    const warn = (name: string) => {
      const sentence = `Step ${row.next}: {{${name}}} has no value.`
      if (row.warnings.length < MAX_WARNINGS && !row.warnings.includes(sentence)) row.warnings.push(sentence)
    }
    const isForm = Object.values(config.headers ?? {}).some((one) => FORM.test(String(one)))
    return Object.fromEntries(
      Object.entries(config).map(([member, value]) => [
        member,
        UNFILLED[type]?.includes(member) ? value : fillIn(value, values, warn, member === 'body' && isForm),
      ]),
    )
  }

  function fail(row: RunRow, error: string): Promise<RunRow> {
    return store.write((tx) => outcomes.end(tx, row, { status: 'failed', error }))
  }
}

/** The type of a body whose values are percent-encoded. */
const FORM = /^application\/x-www-form-urlencoded\b/i

/** Appends the text of the previous step to a prompt without placeholders (docs/api.md 10). */
function withPrevious(
  type: StepType,
  { config, filled }: { config: Step['config']; filled: object },
  previous: string,
): object {
  const isOpen = type === 'ai_transform' && !String(config.prompt).includes('{{') && previous !== ''
  return isOpen ? { ...filled, prompt: `${config.prompt}\n\n${previous}` } : filled
}

/** Converts a member that must be text to text if a placeholder gave another type, as in the middle of a text. */
function writeTexts(type: StepType, filled: Record<string, unknown>): void {
  for (const { path, params } of CHECKS.get(type)!.issues(filled)) {
    if (params.type !== 'string') continue
    // The name of a header may contain dots.
    const [member, ...inner] = path.split('.')
    const holder = inner.length ? (filled[member!] as Record<string, unknown>) : filled
    const name = inner.length ? inner.join('.') : member!
    if (Object.hasOwn(holder, name)) holder[name] = written(holder[name])
  }
}

function assertFilled(type: StepType, filled: object): void {
  const issues = CHECKS.get(type)!.issues(filled)
  if (!issues.length) return
  const { message } = validationError(
    issues.map((issue) => ({ ...issue, path: issue.path.split('.').filter(Boolean) })),
    filled,
  )
  throw new StepFailure(`Once its placeholders were filled in: ${message}`)
}

/** The result without its output if the output is too large, alone or together with those of earlier steps. */
function bounded(result: StepOutput, before: readonly StepRow[]): StepOutput {
  const size = Buffer.byteLength(JSON.stringify(result.output ?? null))
  const without = (error: string): StepOutput => ({ ...result, output: null, error })
  if (size > MAX_OUTPUT_BYTES) return without(`its output has ${size} bytes; at most ${MAX_OUTPUT_BYTES} are allowed`)
  if (size + sumOfOutputs(before) <= MAX_RUN_BYTES) return result
  return without(`with the output of this step, the outputs of this run have more than ${MAX_RUN_BYTES} bytes`)
}

/** The message of an error that the step itself caused. Rethrows any other error, so that the step is retried. */
function problemOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted || error instanceof RunMoved) throw error
  const isOurs = error instanceof StepFailure || error instanceof ExpressionFault || error instanceof TooMuchText
  if (isOurs) return error.message
  if (error instanceof AppError && error.kind !== 'broken' && !PASSING.has(error.code)) return error.message
  throw error
}

/** The values that a step's placeholders and expressions read (docs/api.md 10). A repeated step has its last output. */
function valuesOf(run: RunRow, done: readonly StepRow[], now: number): RunValues {
  const steps: Record<string, unknown> = Object.create(null)
  for (const { name, output } of done) steps[name] = { output: output?.value ?? null }
  for (const { index, output } of done) steps[index] = { output: output?.value ?? null }
  return {
    trigger: run.trigger_data,
    steps,
    previous: { output: done.at(-1)?.output?.value ?? null },
    run: { id: run.id },
    workflow: { id: run.workflow_id },
    now: iso(now),
  }
}

type OutcomeDeps = {
  clock: Clock
  audit: Pick<AuditLog, 'recordUnattended'>
  events: Pick<EventBus, 'emit'>
  jobs: Pick<Jobs, 'enqueue' | 'enqueueAll'>
  approvals: Pick<Approvals, 'moved'>
}

/** The run is in another state than when it was read: cancelled, continued, or taken over. */
export class RunMoved extends Error {}

/** How a step ended. */
type Ended = Omit<StepOutput, 'effects'>

export type Outcomes = ReturnType<typeof createOutcomes>

/** The effects of a step's end on its run, always in one transaction with the step's own writes. */
export function createOutcomes({ clock, audit, events, jobs, approvals }: OutcomeDeps) {
  return { stepEnded, paused, end, goOn, goOnAll, moveTo }

  /** Stores a step's result and moves on. Throws {@link RunMoved}, which rolls back the transaction. */
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

  /** Stores that a step waits, and when it continues automatically. */
  async function paused(tx: Tx, run: RunRow, step: StepRow, pause: Pause): Promise<RunRow> {
    await rows.putStep(tx, { ...step, status: 'paused', output: null, error: null, cost_micro: 0, completed_at: null })
    const moved = await moveTo(tx, run, { status: 'paused', pause, turn: run.turn + 1, warnings: run.warnings })
    await goOn(tx, moved, pause.until)
    return moved
  }

  /** Enqueues a job that continues the run from its current state. */
  async function goOn(tx: Tx, run: RunRow, runAt?: number): Promise<void> {
    await jobs.enqueue(tx, RUN_JOB, jobOf(run, runAt))
  }

  async function goOnAll(tx: Tx, runs: readonly RunRow[]): Promise<void> {
    const all = runs.map((run) => jobOf(run))
    await jobs.enqueueAll(tx, RUN_JOB, all)
  }

  /** Ends a run: updates its state, emits the event and writes the audit record. */
  async function end(
    tx: Tx,
    run: RunRow,
    change: Partial<RunRow> & { status: 'completed' | 'failed' },
  ): Promise<RunRow> {
    const completed_at = clock.now()
    const ended = await moveTo(tx, run, { ...change, next: null, pause: null, completed_at })
    const done = ended.status === 'completed'
    const steps = await rows.steps(tx, [run.id])
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

  /** Throws {@link RunMoved} unless the run is unchanged since it was read. */
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
