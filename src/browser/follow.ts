import { readInstruction, type Step } from '../text'
import { ToolFailure } from '../tools'
import { doSteps } from './act'
import type { OpenSession } from './host'
import type { ActArguments } from './perform'
import type { Acted, Doing } from './reach'
import type { Thinker } from './think'
import type { Element } from './tree'

/**
 * Does what the built-in reader understands. What it does not understand, or finds nothing for, an engine plans, which
 * sees the page, and of variables only their names.
 */
export async function follow(
  thinker: Thinker,
  session: OpenSession,
  doing: Doing,
  { instruction, variables = {} }: Pick<ActArguments, 'instruction' | 'variables'>,
  fixed: Element | null,
): Promise<Acted> {
  const read = readInstruction(withVariables(instruction, variables))
  try {
    if (read) return await doSteps(doing, read, fixed)
  } catch (error) {
    if (!(error instanceof ToolFailure) || doing.done > 0 || fixed) throw error
    const thought = await thinker.steps(session, instruction, doing.signal)
    if (!thought) throw error
    return doSteps(doing, thought.steps.map(fillStep(variables)), null)
  }
  const thought = await thinker.steps(session, instruction, doing.signal)
  if (thought) return doSteps(doing, thought.steps.map(fillStep(variables)), fixed)
  throw new ToolFailure(
    `The instruction ${JSON.stringify(instruction.slice(0, 100))} is not understood. Say one thing, such as: click "Sign in"; type "5" in "Quantity".`,
  )
}

const fillStep =
  (variables: Record<string, unknown>) =>
  (step: Step): Step => {
    if (step.do !== 'type') return step
    const text = step.text.replace(VARIABLE, (whole, name: string) =>
      Object.hasOwn(variables, name) ? String(variables[name]) : whole,
    )
    return { ...step, text }
  }

const VARIABLE = /%([A-Za-z0-9_]{1,64})%/g

/** `%name%` stands for a variable: its value is typed, and never read as an instruction. */
function withVariables(instruction: string, variables: Record<string, unknown>): string {
  return instruction.replace(/"?%([A-Za-z0-9_]{1,64})%"?/g, (whole, name: string) =>
    Object.hasOwn(variables, name) ? `"${String(variables[name]).replace(/["\n]/g, ' ')}"` : whole,
  )
}
