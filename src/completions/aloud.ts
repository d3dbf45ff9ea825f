import type { Step, Thought } from '../agent/schema'
import { clientLeft } from './errors'
import type { Stages } from './pipeline'
import type { Admitted, Decided, Opened, Result } from './run'

/** What a reader of a stream sees, in order: one `began`, steps, one `ended`. */
export type Progress =
  | { type: 'began'; run: Pick<Decided, 'id' | 'ask' | 'call' | 'resolvedMode' | 'model' | 'routing' | 'active'> }
  | Step
  | { type: 'ended'; run: Opened; result: Result }

type Deps = Pick<Stages, 'aloud' | 'patience' | 'partial' | 'finish' | 'abandon'>

/** An answer while it is being made: however it ends, what was said is paid for, kept and recorded. */
export function createAloud(stages: Deps) {
  async function* thoughtAloud(run: Admitted): AsyncGenerator<Progress> {
    const steps = stages.aloud(run)
    let text = ''
    // Until something else is known, whoever stops reading is the reason it ends.
    let broken: unknown = clientLeft()
    try {
      const opening = steps.next()
      // An engine that refuses at once is an ordinary error with its status (contract 3); the catch is for
      // readers who leave before anyone looks.
      opening.catch(() => null)
      await Promise.race([opening, stages.patience()])
      yield { type: 'began', run }
      let step = await opening
      for (; !step.done; step = await steps.next()) {
        if (step.value.type === 'text') text += step.value.text
        yield step.value
      }
      broken = null
      yield { type: 'ended', run, result: await stages.finish(run, step.value) }
    } catch (error) {
      broken = broken === null || run.call.signal.aborted ? broken : error
      throw error
    } finally {
      if (broken) await stopEarly(run, steps, text, broken)
    }
  }

  /** Tokens already delivered are paid for; without any, nothing is (contract 2.4, P7). */
  async function stopEarly(
    run: Admitted,
    steps: AsyncGenerator<Step, Thought>,
    text: string,
    broken: unknown,
  ): Promise<void> {
    const partial = stages.partial(run, text)
    await stages.abandon(run, partial, broken)
    await steps.return(partial)
  }

  return { thoughtAloud }
}
