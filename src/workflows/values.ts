import { iso } from '../kernel/clock'
import { type RunValues, written } from '../text'
import type { RunRow, StepRow } from './table'

/** What a step's placeholders and expressions read (contract 10). A step that ran more than once has its last output. */
export function valuesOf(run: RunRow, done: readonly StepRow[], now: number): RunValues {
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

/** The text of the step before: what it said, else its output as JSON; empty without one. */
export function previousText(done: readonly StepRow[]): string {
  const output = done.at(-1)?.output?.value ?? null
  const text = (output as { text?: unknown } | null)?.text
  return typeof text === 'string' ? text : written(output)
}
