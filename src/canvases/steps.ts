import type { Flow, Place } from './flow'
import type { CanvasStep } from './schema'

/** A step whose ways on are still places in the flow. */
type Draft = { step: CanvasStep; to: Label; answers: { onTrue: Label; onFalse: Label } | null }
/** A place in the list that is known once everything stands in it. */
type Label = { at: number }

/** Where branches meet that lead to no further step: the value so far is the value of the run. */
const END: CanvasStep = { type: 'transform', name: 'End', config: { template: '{{previous.output}}' } }

/** The places that are steps, in the order they stand in the list. */
export const flattened = (flow: Flow): string[] =>
  flow.flatMap(({ id, branches }) => [
    id,
    ...(branches ? [...flattened(branches.true), ...flattened(branches.false)] : []),
  ])

/**
 * The flow as a list with jumps (contract 10): the branch of "true", then that of "false", then where they
 * meet. Nodes without a step are passed over.
 */
export function lineUp(flow: Flow, stepOf: ReadonlyMap<string, CanvasStep>): CanvasStep[] {
  const drafts: Draft[] = []
  const end: Label = { at: 0 }
  emit(flow, end)
  end.at = drafts.length
  const steps = drafts.map(written)
  return drafts.some(({ answers, to }, at) => leads(to, end, at) || jumpsTo(answers, end)) ? [...steps, END] : steps

  /** Each place leads to the one after it, the last to where its branch leads. */
  function emit(line: Flow, exit: Label): void {
    const places = line.filter(isStep)
    const starts = places.map(() => ({ at: 0 }))
    for (const [turn, { id, branches }] of places.entries()) {
      const after = starts[turn + 1] ?? exit
      starts[turn]!.at = drafts.length
      const step = stepOf.get(id)!
      if (!branches) drafts.push({ step, to: after, answers: null })
      else emitCondition(step, branches, after)
    }
  }

  function emitCondition(step: CanvasStep, branches: NonNullable<Place['branches']>, after: Label): void {
    const [onTrue, onFalse] = [branches.true, branches.false].map((branch) => (branch.some(isStep) ? { at: 0 } : after))
    drafts.push({ step, to: { at: drafts.length + 1 }, answers: { onTrue: onTrue!, onFalse: onFalse! } })
    for (const [branch, start] of [
      [branches.true, onTrue!],
      [branches.false, onFalse!],
    ] as const) {
      if (start !== after) start.at = drafts.length
      emit(branch, after)
    }
  }

  function isStep({ id }: Place): boolean {
    return stepOf.has(id)
  }

  function leads(to: Label, end: Label, at: number): boolean {
    return to === end && at + 1 < drafts.length
  }
}

const jumpsTo = (answers: Draft['answers'], end: Label): boolean => answers?.onTrue === end || answers?.onFalse === end

/** A step says where it leads only when that is not the one after it. */
function written({ step, to, answers }: Draft, at: number): CanvasStep {
  if (answers) return { ...step, config: { ...step.config, onTrue: answers.onTrue.at, onFalse: answers.onFalse.at } }
  return to.at === at + 1 ? step : { ...step, onSuccess: to.at }
}
