import { iso, isoOrNull } from '../../kernel/clock'
import { microToCents } from '../../kernel/money'
import type { StepResult, WorkflowRun } from './schema'
import type { RunRow, StepRow } from './table'

/** A run as the API shows it, with the steps that never ran once it has ended. */
export function presentRun(run: RunRow, steps: readonly StepRow[]): WorkflowRun {
  const ran = new Set(steps.map(({ index }) => index))
  const hasEnded = run.completed_at !== null
  const skipped = hasEnded
    ? run.steps.flatMap(({ name, type, nodeId }, index) =>
        ran.has(index) ? [] : [{ index, name, type, ...(nodeId === undefined ? {} : { nodeId }) }],
      )
    : []
  return {
    id: run.id,
    workflowId: run.workflow_id,
    status: run.status,
    stepsCompleted: steps.filter(({ status }) => status === 'completed').length,
    error: run.error,
    startedAt: iso(run.created_at),
    completedAt: isoOrNull(run.completed_at),
    triggerType: run.trigger_type,
    triggerData: run.trigger_data ?? null,
    stepResults: [
      ...steps.map((step) => presentStep(step, run.steps[step.index]?.nodeId)),
      ...skipped.map((step) => ({ ...step, ...SKIPPED })),
    ],
    output: run.output?.value ?? null,
    warnings: run.warnings,
  }
}

const SKIPPED = {
  status: 'skipped' as const,
  output: null,
  error: null,
  costCents: 0,
  startedAt: null,
  completedAt: null,
}

const presentStep = (
  { index, name, type, status, output, error, ...row }: StepRow,
  nodeId: string | undefined,
): StepResult => ({
  index,
  name,
  type,
  ...(nodeId === undefined ? {} : { nodeId }),
  status,
  output: output?.value ?? null,
  error,
  costCents: microToCents(row.cost_micro),
  startedAt: iso(row.started_at),
  completedAt: isoOrNull(row.completed_at),
})
