import type { Flow, Place } from './flow'
import type { CanvasStep } from './schema'

/** A step whose ways on are still places in the flow. */
type Draft = { step: CanvasStep; to: Label; answers: { onTrue: Label; onFalse: Label } | null }
/** A place in the list that is known once everything stands in it. */
type Label = { at: number }

/** What each place does, and what is done where branches meet that lead to nothing more. */
export type Doings = { stepOf: ReadonlyMap<Place, CanvasStep>; end: CanvasStep }

/**
 * The flow as a list with jumps (contract 10): the branch of "true", then that of "false", then where they
 * meet.
 */
export function lineUp(flow: Flow, { stepOf, end }: Doings): CanvasStep[] {
  const drafts: Draft[] = []
  const last: Label = { at: 0 }
  emit(flow, last)
  last.at = drafts.length
  const steps = drafts.map(written)
  return drafts.some(jumpsToLast) ? [...steps, end] : steps

  /** Each place leads to the one after it, the last to where its branch leads. */
  function emit(line: Flow, exit: Label): void {
    const starts = line.map(() => ({ at: 0 }))
    for (const [turn, place] of line.entries()) {
      const { branches } = place
      const after = starts[turn + 1] ?? exit
      starts[turn]!.at = drafts.length
      const step = stepOf.get(place)!
      if (!branches) drafts.push({ step, to: after, answers: null })
      else emitCondition(step, branches, after)
    }
  }

  function emitCondition(step: CanvasStep, branches: NonNullable<Place['branches']>, after: Label): void {
    const [onTrue, onFalse] = [branches.true, branches.false].map((branch) => (branch.length ? { at: 0 } : after))
    drafts.push({ step, to: { at: drafts.length + 1 }, answers: { onTrue: onTrue!, onFalse: onFalse! } })
    for (const [branch, start] of [
      [branches.true, onTrue!],
      [branches.false, onFalse!],
    ] as const) {
      if (start !== after) start.at = drafts.length
      emit(branch, after)
    }
  }

  function jumpsToLast({ answers, to }: Draft, at: number): boolean {
    return (to === last && at + 1 < drafts.length) || answers?.onTrue === last || answers?.onFalse === last
  }
}

/** A step says where it leads only when that is not the one after it. */
function written({ step, to, answers }: Draft, at: number): CanvasStep {
  if (answers) return { ...step, config: { ...step.config, onTrue: answers.onTrue.at, onFalse: answers.onFalse.at } }
  return to.at === at + 1 ? step : { ...step, onSuccess: to.at }
}
