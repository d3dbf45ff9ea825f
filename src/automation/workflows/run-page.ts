import { type Page, toPage } from '../../kernel/page'
import type { Reader } from '../../kernel/store'
import { runRepository as rows } from './repository'
import { MAX_LISTED_BYTES } from './rules'
import type { RunQuery, WorkflowId } from './schema'
import type { RunRow, StepRow } from './table'

export type RunWithSteps = { run: RunRow; steps: StepRow[] }

/** Runs whose steps are read at a time. */
const TOGETHER = 10

/** A page of runs with their steps: shorter than asked for where their outputs are so large that the answer would be. */
export async function pageOfRuns(db: Reader, workflow: WorkflowId, query: RunQuery): Promise<Page<RunWithSteps>> {
  const page = await rows.list(db, workflow, query)
  const items: RunWithSteps[] = []
  for (let bytes = 0; items.length < page.items.length && bytes < MAX_LISTED_BYTES; ) {
    const some = page.items.slice(items.length, items.length + TOGETHER)
    const ids = some.map((run) => run.id)
    const steps = Map.groupBy(await rows.steps(db, ids), (step) => step.run_id)
    for (const run of some) {
      if (bytes >= MAX_LISTED_BYTES) break
      const own = steps.get(run.id) ?? []
      bytes += bytesOf(run.output) + sumOfOutputs(own)
      items.push({ run, steps: own })
    }
  }
  if (items.length === page.items.length) return { ...page, items }
  return { items, next: toPage(page.items, items.length, ({ created_at: at, id }) => ({ at, id })).next }
}

/** What the outputs of steps come to as JSON, in bytes. */
export const sumOfOutputs = (steps: readonly StepRow[]): number =>
  steps.reduce((sum, { output }) => sum + bytesOf(output), 0)

const bytesOf = (value: unknown): number => (value === null ? 0 : Buffer.byteLength(JSON.stringify(value)))
