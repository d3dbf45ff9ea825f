import { createWorkerPool, WorkerFailure } from '../kernel/worker-pool'
import { TooSlow } from './guardrail'
import type { RulesAnswer, RulesInput, RulesOrder } from './inspection-rules.worker.ts'
import type { Inspection } from './inspection-runner'

/** In characters: what may be read on the event loop, some four milliseconds for every rule there is. */
const MAX_ON_LOOP = 8_192
/**
 * How long a process may take: ten times what 32 ordinary patterns take for a text of that length, so that rules
 * that are not ordinary hold their process for seconds and no longer.
 */
const processMsFor = (length: number): number => Math.min(10_000, 3_000 + length / 64)

/** One piece of work, as a call and as an order to a process that does the same. */
export type Work<Answer> = {
  /** In characters: how much there is to read. */
  length: number
  onLoop(): Promise<Answer>
  input: RulesInput
  /** What it comes to when the process fails or takes too long. */
  failClosed(): Answer
}

/** Runs rules over short texts on the event loop, and over long ones, or with slow rules, in a process (I28). */
export function createLoopOrProcess() {
  const pool = createWorkerPool<RulesOrder, RulesAnswer>({
    script: new URL('./inspection-rules.worker.ts', import.meta.url),
    // An owner who sends long texts to slow rules takes one process; the other is for everybody else.
    max: 2,
    each: 1,
    idleMs: 60_000,
  })

  /** @throws the signal's reason when the caller has left. */
  return async function run<Answer extends RulesAnswer>(inspection: Inspection, work: Work<Answer>): Promise<Answer> {
    if (work.length > MAX_ON_LOOP) return inProcess(inspection, work)
    try {
      return await work.onLoop()
    } catch (error) {
      if (error instanceof TooSlow) return inProcess(inspection, work)
      throw error
    }
  }

  async function inProcess<Answer extends RulesAnswer>(
    { set: { key, rules }, about, who, signal }: Inspection,
    { length, input, failClosed }: Work<Answer>,
  ): Promise<Answer> {
    const params = { ...input, key, owner: who, rules: rules.map(({ inspect: _, ...rule }) => rule), about }
    try {
      return (await pool.run(params, { timeoutMs: processMsFor(length), signal, who })) as Answer
    } catch (error) {
      if (error instanceof WorkerFailure) return failClosed()
      throw error
    }
  }
}
