import type { Outcome } from '../inspection/outcome'
import type { Inspection, RuleRunner } from '../inspection/runner'
import { newBudget } from '../second-look/second-look'
import { HELD } from './hold-back'

/**
 * Runs rules over the stretches of a streamed answer. An engine is asked about a doubted passage before that passage
 * is shown, but only about the first few of a stream, since its reader waits for each. The rest is asked about when
 * the answer has ended and is read as a whole.
 */
export function createStreamInspector(runner: Pick<RuleRunner, 'texts' | 'secondLook'>, inspection: Inspection) {
  const budget = newBudget()
  /** Stretches overlap, so a passage may be doubted again. */
  const askedAbout = new Set<string>()

  return async (text: string): Promise<Outcome> => {
    const outcome = (await runner.texts(inspection, [text]))[0]!
    const doubts = outcome.doubts.filter(({ index, start, end }) => {
      // What is still held back is read again, together with what follows it.
      if (start >= text.length - HELD) return false
      const passage = `${index} ${outcome.text.slice(start, end)}`
      return !askedAbout.has(passage) && askedAbout.add(passage)
    })
    return doubts.length ? runner.secondLook({ ...inspection, budget }, { ...outcome, doubts }) : outcome
  }
}
