import { storeAnswer } from '../idempotency'
import type { Call, Caller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { notFound } from '../kernel/errors'
import { pageFields } from '../kernel/page'
import type { Reader, Store } from '../kernel/store'
import type { Resource } from '../resource'
import type { CanvasService } from './canvases'
import type { CanvasProblem } from './canvases-schema'
import { automationErrors } from './errors'
import type { workflow } from './resource'
import type { RunRow, WorkflowRow } from './table'
import { pageOfRuns, presentRun, runRepository as rows } from './workflows-repository'
import {
  type CanvasNodeState,
  type CanvasRun,
  MAX_STEPS,
  type NewWorkflow,
  type OfCanvas,
  type RunQuery,
  type Step,
  type StepResult,
  type TriggerType,
  type Workflow,
  WorkflowId,
  WorkflowRunId,
} from './workflows-schema'

type Deps = {
  store: Store
  clock: Clock
  canvases: Pick<CanvasService, 'canvases' | 'compiled'>
  workflows: Resource<typeof workflow>
  read(sent: NewWorkflow, call: Call<Caller>, before: WorkflowRow | null): Promise<object>
}

/** Why a canvas cannot become a workflow. Nothing was changed. */
type Unmade = { problems: CanvasProblem[] }

/** Workflows compiled from canvases, and their runs with the state of each canvas node (docs/api.md 9, 10). */
export function createFromCanvas({ store, clock, canvases, workflows, read }: Deps) {
  return { make, get, listRuns, getRun }

  /**
   * Creates or updates the workflow of a canvas. Runs that have begun keep their steps. Throws 404, 403, 400 for a
   * trigger that no workflow can have, and 409 when the canvas or the number of workflows does not allow it.
   */
  async function make(call: Call, id: string, input: OfCanvas): Promise<{ workflow: Workflow } | Unmade> {
    const drawn = await canvases.canvases.find(store.read, call.caller, id)
    const built = canvases.compiled(drawn)
    if (!built.compiled) return { problems: built.problems }
    const steps = built.steps as Step[]
    if (steps.length > MAX_STEPS)
      return {
        problems: [
          {
            code: 'invalid_config',
            message: `The canvas has ${steps.length} steps; a workflow has at most ${MAX_STEPS}.`,
          },
        ],
      }
    const before = (await rows.ofCanvas(store.read, drawn.owner, drawn.id)) ?? null
    const name = input.name ?? before?.name ?? drawn.name
    const enabled = input.enabled ?? before?.enabled ?? true
    const trigger = triggerOf(built.manifest.trigger)
    const columns = await read({ name, steps, enabled, ...trigger }, call, before)
    return store.write(async (tx) => {
      const { updated_at, owner, org_id } = await canvases.canvases.findLocked(tx, call.caller, id)
      const found = await rows.ofCanvas(tx, owner, drawn.id)
      if (updated_at !== drawn.updated_at || found?.updated_at !== before?.updated_at)
        throw automationErrors.canvasChanged()
      if (found) {
        const row = await workflows.findToChange(tx, call.caller, found.id)
        const fields = Object.keys(columns).filter((name) => (columns as Record<string, unknown>)[name] !== undefined)
        const changed = await workflows.change(tx, { call, verb: 'updated', row }, columns, { fields })
        return storeAnswer(tx, call, (await workflows.present(tx, changed)) as { workflow: Workflow })
      }
      const now = clock.now()
      const row = {
        ...workflows.resource.empty,
        id: WorkflowId.create(),
        owner,
        org_id,
        user_id: call.caller.userId,
        name,
        trigger_type: trigger.triggerType,
        steps,
        ...columns,
        canvas_id: drawn.id,
        created_at: now,
        updated_at: now,
      } as WorkflowRow
      await workflows.add(tx, { call, verb: 'created', row }, { metadata: { canvas_id: drawn.id } })
      return storeAnswer(tx, call, (await workflows.present(tx, row)) as { workflow: Workflow })
    })
  }

  /** Throws 404 when the canvas has no workflow. */
  async function get({ caller }: Call<Caller>, id: string): Promise<{ workflow: Workflow }> {
    const found = await ofCanvas(store.read, caller, id)
    if (!found) throw notFound('workflow of this canvas')
    return workflows.present(store.read, found) as Promise<{ workflow: Workflow }>
  }

  async function listRuns({ caller }: Call<Caller>, id: string, query: RunQuery) {
    const found = await ofCanvas(store.read, caller, id)
    if (!found) return { runs: [], has_more: false, next_cursor: null }
    const page = await pageOfRuns(store.read, found.id, query)
    return { runs: page.items.map(({ run, steps }) => onNodes(run, steps)), ...pageFields(page) }
  }

  async function getRun({ caller }: Call<Caller>, id: string, runId: string): Promise<{ run: CanvasRun }> {
    const found = await ofCanvas(store.read, caller, id)
    const run = found && WorkflowRunId.is(runId) ? await rows.find(store.read, runId) : undefined
    if (!run || run.workflow_id !== found?.id) throw notFound('workflow run')
    return { run: onNodes(run, await rows.steps(store.read, [run.id])) }
  }

  /** Throws 404 for a canvas that the caller does not reach. */
  async function ofCanvas(reader: Reader, caller: Caller, id: string): Promise<WorkflowRow | undefined> {
    const drawn = await canvases.canvases.find(reader, caller, id)
    return rows.ofCanvas(reader, drawn.owner, drawn.id)
  }
}

type Trigger = { triggerType: TriggerType; triggerConfig: Record<string, unknown> }

/** The trigger of the workflow. Keywords apply to skills only, so such a workflow is started manually. */
function triggerOf({ type, config = {} }: { type: string; config?: object }): Trigger {
  return type === 'event' || type === 'schedule'
    ? { triggerType: type, triggerConfig: { ...config } }
    : { triggerType: 'manual', triggerConfig: {} }
}

/** A run with the state of each canvas node that is one of its steps. */
function onNodes(run: RunRow, steps: Parameters<typeof presentRun>[1]): CanvasRun {
  const shown = presentRun(run, steps)
  const results = Map.groupBy(shown.stepResults, ({ index }) => index)
  const nodes = run.steps.flatMap(({ nodeId, name, type }, index): CanvasNodeState[] =>
    nodeId === undefined ? [] : [{ nodeId, name, type, ...stateOf(run, index, results.get(index) ?? []) }],
  )
  return { ...shown, nodes }
}

function stateOf(run: RunRow, index: number, results: readonly StepResult[]) {
  const last = results.at(-1)
  const isNext = run.status === 'running' && run.next === index
  const status = isNext ? 'running' : (last?.status ?? 'waiting')
  return {
    status,
    times: last?.status === 'skipped' ? 0 : results.length,
    output: last?.output ?? null,
    error: last?.error ?? null,
    costCents: results.reduce((sum, { costCents }) => sum + costCents, 0),
    startedAt: last?.startedAt ?? null,
    completedAt: last?.completedAt ?? null,
  } as const
}
