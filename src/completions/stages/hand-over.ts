import { type Later, pollUrlOf } from '../../charging'
import type { AgentResult } from '../agent-schema'
import type { Run } from '../run'
import { holdBackOf } from './guard'
import { BLOCKED, show } from './show'

/** Ends a run with a job that goes on with its work: it is put in line in the commit that ends the run. */
export function handOver(run: Run, later: Later, why: string): AgentResult {
  run.later = later
  const content = `${why}, so it continues as job ${later.id}. Read its progress and result at ${pollUrlOf(later.id)}.`
  return { ...EMPTY, engineId: run.engineId, content }
}

/** A thought that cost nothing and says nothing. */
export const EMPTY: Omit<AgentResult, 'engineId' | 'content'> = {
  free: false,
  promptTokens: 0,
  completionTokens: 0,
  reasoning: '',
  refusal: '',
  finish: 'stop',
  fallbackUsed: false,
  ttftMs: null,
  turns: [],
  toolUses: [],
  toolCalls: [],
  warnings: [],
}

/** Shows the content of a thought in a stream, as far as no rule objects to it: the policy is applied to the whole next. */
export async function shown(run: Run, result: AgentResult): Promise<AgentResult> {
  if (!run.write) return result
  run.held = holdBackOf(run)
  try {
    await show(run, run.write, { type: 'text', text: result.content })
  } catch (error) {
    if (error !== BLOCKED) throw error
  }
  return result
}
