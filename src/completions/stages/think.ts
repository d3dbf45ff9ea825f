import type { Agent } from '../../agent'
import type { Acting, Step, Task, Thought } from '../../agent/schema'
import type { Billing, Prices } from '../../billing'
import { toolsUnpaid } from '../../billing'
import type { EngineService } from '../../engines'
import type { Clock } from '../../kernel/clock'
import { AppError, atField } from '../../kernel/errors'
import type { Store } from '../../kernel/store'
import { clientLeft, requestTimeout } from '../errors'
import { isStealth, wantsJson, workOf } from '../rules'
import type { Admitted, Opened } from '../run'
import { createFund } from './fund'

const OPENING_MS = 100

type Deps = { agent: Agent; engines: EngineService; clock: Clock; store: Store; billing: Billing; prices: Prices }

/** Runs the agent, for a whole answer or step by step. Throws 504 `request_timeout` when the deadline passes. */
export function createThink({ agent, engines, clock, ...money }: Deps) {
  const { afford } = createFund(money)

  return {
    patience: () => clock.sleep(OPENING_MS),

    async whole(run: Admitted): Promise<Thought> {
      try {
        return await agent.answer(taskOf(run))
      } catch (error) {
        throw explained(run, error)
      }
    },

    /** Yields the steps as they come, and returns the thought. */
    async *aloud(run: Admitted): AsyncGenerator<Step, Thought> {
      try {
        return yield* agent.stream(taskOf(run))
      } catch (error) {
        throw explained(run, error)
      }
    },

    /** The text and tool calls of a run that stopped early. The tokens of its last turn are our own count. */
    partial(run: Admitted, text: string): Thought {
      const { engineId, promptTokens, spent } = run
      const half = text.slice(spent.said)
      const completionTokens = half ? engines.countTokens(half) : 0
      const broken = { engineId, free: engines.isFree(engineId), promptTokens, completionTokens }
      const turns = half || !spent.turns.length ? [...spent.turns, broken] : [...spent.turns]
      return {
        ...broken,
        promptTokens: turns.reduce((sum, turn) => sum + turn.promptTokens, 0),
        completionTokens: turns.reduce((sum, turn) => sum + turn.completionTokens, 0),
        content: text,
        finish: 'stop',
        fallbackUsed: false,
        ttftMs: null,
        turns,
        toolUses: spent.uses,
        toolCalls: [],
        warnings: [],
      }
    },
  }

  function taskOf(run: Admitted): Task {
    const work = workOf(run.resolvedMode)
    const { engineId, system, history, images, maxOutputTokens, ask } = run
    const { prompt, after, temperature, functions } = ask
    return {
      call: run.call,
      stealth: isStealth(ask.mode),
      engineId,
      system,
      history,
      images,
      maxOutputTokens,
      prompt,
      after,
      temperature,
      mode: work,
      json: ask.json || wantsJson(work),
      signal: run.deadline.signal,
      acting: run.toolset && actingOf(run, run.toolset),
      offered: functions,
    }
  }

  function actingOf(run: Admitted, toolset: Acting['toolset']): Acting {
    const { call, spent, attached, ask } = run
    return {
      toolset,
      call,
      spent,
      maxIterations: ask.maxIterations,
      ...(ask.bounds ? { maxCalls: ask.bounds.toolCalls } : {}),
      conversationId: attached,
      guard: run.guard,
      afford: (wanted) => afford(run, wanted),
      unpaid: () => toolsUnpaid(),
    }
  }
}

function explained(run: Opened, error: unknown): unknown {
  if (run.deadline.timedOut()) return requestTimeout(run.stream ? 600 : 120, run.ask.mode)
  if (run.call.signal.aborted) return clientLeft()
  const isTooLong = error instanceof AppError && error.kind === 'invalid' && error.param === 'prompt'
  return isTooLong && run.ask.cameFrom ? atField(error, run.ask.cameFrom.whole) : error
}
