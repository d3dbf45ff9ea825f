import type { HoldBack } from '../../guardrails'
import type { AgentResult, Step } from '../agent-schema'
import type { Run, Write } from '../run'

/** How long a stream waits for the first byte of an engine before it begins without (contract 3). */
export const OPENING_MS = 10_000

/** Thrown to end the engine call of a streamed answer that a rule blocked. */
export const BLOCKED = new Error('a guardrail blocked the answer')

/** Tells the reader of a stream that the answer begins. Later calls do nothing. */
export function begin(run: Run, write: Write): void | Promise<void> {
  if (run.hasBegun) return
  run.hasBegun = true
  return write({ type: 'began', run, id: run.id })
}

/**
 * Shows a step of a streamed answer as it comes; text that a rule may still object to is held back. With a policy, calls
 * wait for the end, and thoughts are not shown.
 */
export function show(run: Run, write: Write, step: Step): void | Promise<void> {
  if (run.guard && (step.type === 'call' || step.type === 'reasoning')) return
  if (!run.hasBegun) void begin(run, write)
  if (step.type !== 'text' && step.type !== 'refusal') return write(step)
  run.said += step.text
  return run.held ? showHeld(run.held, write, step.text) : write(step)
}

async function showHeld(held: HoldBack, write: Write, piece: string): Promise<void> {
  const text = await held.add(piece)
  if (text) await write({ type: 'text', text })
  if (held.blocked()) throw BLOCKED
}

/** Shows what is left of a streamed answer, after the policy was applied to the whole of it. */
export async function showRest(run: Run, result: AgentResult, guarded: AgentResult): Promise<void> {
  const { held, write } = run
  if (!write) return
  await begin(run, write)
  const isWithheld = guarded.finish === 'content-filter' && guarded.content !== result.content
  // Without a hold-back an answer is withheld for its tool calls alone: what stands in for it is shown like any.
  const standsIn = isWithheld && !run.said ? guarded.content : ''
  const rest = held ? await held.rest(guarded.content, isWithheld) : standsIn
  if (rest) await write({ type: 'text', text: rest })
}
