import type { Flow, Place } from './flow'
import type { CanvasStep } from './schema'

/** A step whose successors are not yet known as indexes. */
type Draft = { step: CanvasStep; to: Label; answers: { onTrue: Label; onFalse: Label } | null }
/** An index in the list of steps, filled in when the target step is added. */
type Label = { at: number }

/** The step of each place, and the step jumped to where merging branches end the flow. */
export type Doings = { stepOf: ReadonlyMap<Place, CanvasStep>; end: CanvasStep }

/** Writes a flow as steps with jumps (contract 10): the "true" branch, the "false" branch, then what follows both. */
export function lineUp(flow: Flow, { stepOf, end }: Doings): CanvasStep[] {
  const drafts: Draft[] = []
  const last: Label = { at: 0 }
  emit(flow, last)
  last.at = drafts.length
  const steps = drafts.map(written)
  return drafts.some(jumpsToLast) ? [...steps, end] : steps

  /** Every place leads to the next one, and the last to `exit`. */
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

/** Writes `onSuccess` only when the next step is not the following one. */
function written({ step, to, answers }: Draft, at: number): CanvasStep {
  if (answers) return { ...step, config: { ...step.config, onTrue: answers.onTrue.at, onFalse: answers.onFalse.at } }
  return to.at === at + 1 ? step : { ...step, onSuccess: to.at }
}
