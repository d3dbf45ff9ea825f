import type { Step, Thought } from '../agent/schema'
import type { HoldBack } from '../guardrails'
import { clientLeft } from './errors'
import type { Stages } from './pipeline'
import type { Admitted, Decided, Opened, Result } from './run'

/** What a reader of a stream sees, in order: one `began`, steps, one `ended`. */
export type Progress =
  | {
      type: 'began'
      run: Pick<Decided, 'id' | 'ask' | 'call' | 'conversationId' | 'resolvedMode' | 'model' | 'routing' | 'active'>
    }
  | Step
  | { type: 'ended'; run: Opened; result: Result }

type Deps = Pick<Stages, 'aloud' | 'patience' | 'partial' | 'guardOutput' | 'holdBack' | 'finish' | 'abandon'>

type Steps = AsyncGenerator<Step, Thought>
/** `text` is all the engine produced; `shown` is the part of it that the guardrails let through to the reader. */
type Said = { text: string; shown: string }

async function heldBack(held: HoldBack, piece: string): Promise<Step | null> {
  const text = await held.add(piece)
  return text ? { type: 'text', text } : null
}

const isWithheld = (said: Thought, shown: Thought): boolean =>
  shown.finish === 'content-filter' && shown.content !== said.content

/** Runs a streamed answer. However the stream ends, what was delivered is charged, stored and recorded. */
export function createAloud(stages: Deps) {
  async function* thoughtAloud(run: Admitted): AsyncGenerator<Progress> {
    const steps = stages.aloud(run)
    const held = run.guard && stages.holdBack(run)
    let text = ''
    // The default reason for an early end: a client that leaves closes the generator without an error.
    let broken: unknown = clientLeft()
    try {
      const opening = steps.next()
      // An engine that refuses at once is answered with its own status (contract 3). The empty handler prevents an
      // unhandled rejection when the reader leaves before `opening` is awaited.
      opening.catch(() => null)
      await Promise.race([opening, stages.patience()])
      yield { type: 'began', run }
      let step = await opening
      for (; !step.done && !held?.blocked(); step = await steps.next()) {
        if (step.value.type === 'text') text += step.value.text
        const shown = held && step.value.type === 'text' ? await heldBack(held, step.value.text) : step.value
        if (shown) yield shown
      }
      const thought = step.done ? step.value : await stopped(run, steps, text)
      const guarded = run.guard ? await stages.guardOutput(run, thought, held) : thought
      const withheld = isWithheld(thought, guarded)
      // Without a hold-back an answer is withheld for its tool calls alone: what stands in for it is shown like any.
      const standsIn = withheld && !text ? guarded.content : ''
      const rest = held ? await held.rest(guarded.content, withheld) : standsIn
      if (rest) yield { type: 'text', text: rest }
      broken = null
      yield { type: 'ended', run, result: await stages.finish(run, guarded) }
    } catch (error) {
      broken = broken === null || run.call.signal.aborted ? broken : error
      throw error
    } finally {
      if (broken) await stopEarly(run, steps, { text, shown: held ? held.shown() : text }, broken)
    }
  }

  /** A rule blocked the answer: the engine is stopped, and what it said is paid for. */
  async function stopped(run: Admitted, steps: Steps, text: string): Promise<Thought> {
    const partial = stages.partial(run, text)
    await steps.return(partial)
    return partial
  }

  /** Tokens already delivered are paid for; without any, nothing is (contract 2.4, P7). */
  async function stopEarly(run: Admitted, steps: Steps, { text, shown }: Said, broken: unknown): Promise<void> {
    const partial = { ...stages.partial(run, text), content: shown }
    try {
      await stages.abandon(run, partial, broken)
    } finally {
      await steps.return(partial)
    }
  }

  return { thoughtAloud }
}
