import type { Agent } from '../../agent'
import type { Step, Task, Thought } from '../../agent/schema'
import type { EngineService } from '../../engines'
import type { Clock } from '../../kernel/clock'
import { clientLeft, requestTimeout } from '../errors'
import { wantsJson, workOf } from '../rules'
import type { Admitted, Opened } from '../run'

const OPENING_MS = 100

type Deps = { agent: Agent; engines: EngineService; clock: Clock }

/** The agent's part of a run, whole or step by step. A run out of time is 504 `request_timeout`. */
export function createThink({ agent, engines, clock }: Deps) {
  return {
    patience: () => clock.sleep(OPENING_MS),

    async whole(run: Admitted): Promise<Thought> {
      try {
        return await agent.answer(taskOf(run))
      } catch (error) {
        throw explained(run, error)
      }
    },

    /** Steps as they come; the generator returns the thought. */
    async *aloud(run: Admitted): AsyncGenerator<Step, Thought> {
      try {
        return yield* agent.stream(taskOf(run))
      } catch (error) {
        throw explained(run, error)
      }
    },

    /** What had been said when a run stopped early, with our own count of it. */
    partial: (run: Admitted, text: string): Thought => ({
      content: text,
      finish: 'stop',
      promptTokens: run.promptTokens,
      completionTokens: engines.countTokens(text),
      engineId: run.engineId,
      free: engines.isFree(run.engineId),
      fallbackUsed: false,
      ttftMs: null,
    }),
  }
}

function explained(run: Opened, error: unknown): unknown {
  if (run.deadline.timedOut()) return requestTimeout(run.stream ? 600 : 120, run.ask.mode)
  return run.call.signal.aborted ? clientLeft() : error
}

function taskOf(run: Admitted): Task {
  const work = workOf(run.resolvedMode)
  return {
    engineId: run.engineId,
    mode: work,
    system: run.system,
    history: run.history,
    prompt: run.ask.prompt,
    images: run.images,
    temperature: run.ask.temperature,
    maxOutputTokens: run.maxOutputTokens,
    json: wantsJson(work),
    signal: run.deadline.signal,
  }
}
