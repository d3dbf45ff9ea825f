import { toolsUnpaid } from '../../billing'
import { clientLeft } from '../../charging'
import type { EngineService } from '../../engines'
import type { Clock } from '../../kernel/clock'
import { AppError, atField } from '../../kernel/errors'
import { ReaderLeft } from '../../kernel/stream'
import type { Agent } from '../agent-loop'
import type { Acting, AgentResult, Task } from '../agent-schema'
import { requestTimeout } from '../errors'
import { isStealth, wantsJson, workOf } from '../rules'
import type { Run, Write } from '../run'
import { holdBackOf } from './guard'
import type { createMoney } from './money'
import { BLOCKED, begin, OPENING_MS, show } from './show'

type Deps = {
  agent: Agent
  engines: EngineService
  clock: Clock
  money: Pick<ReturnType<typeof createMoney>, 'afford'>
}

/** Runs the agent, whose steps a stream shows as they come. Throws what engines throw, and 402. */
export function createThink({ agent, engines, clock, money }: Deps) {
  return { think, partial }

  function think(run: Run): Promise<AgentResult> {
    return run.write ? shown(run, run.write) : agent.answer(taskOf(run))
  }

  async function shown(run: Run, write: Write): Promise<AgentResult> {
    run.held = holdBackOf(run)
    // An engine that fails before its first byte is answered with a status of its own (contract 3).
    const cancel = clock.after(OPENING_MS, () => void begin(run, write))
    try {
      return await agent.answer(taskOf(run), (step) => show(run, write, step))
    } catch (error) {
      if (error === BLOCKED) return partial(run, run.said)
      throw error
    } finally {
      cancel()
    }
  }

  /** The text and tool calls of a run that stopped early. The tokens of its last turn are our own count. */
  function partial({ engineId, promptTokens, spent }: Run, text: string): AgentResult {
    const half = text.slice(spent.said)
    const completionTokens = half ? engines.countTokens(half) : 0
    const broken = { engineId, free: engines.isFree(engineId), promptTokens, completionTokens }
    const turns = half || !spent.turns.length ? [...spent.turns, broken] : [...spent.turns]
    return {
      engineId,
      free: broken.free,
      promptTokens: turns.reduce((sum, turn) => sum + turn.promptTokens, 0),
      completionTokens: turns.reduce((sum, turn) => sum + turn.completionTokens, 0),
      content: text,
      reasoning: '',
      refusal: '',
      finish: 'stop',
      fallbackUsed: false,
      ttftMs: null,
      turns,
      toolUses: spent.uses,
      toolCalls: [],
      warnings: [],
    }
  }

  function taskOf(run: Run): Task {
    const { request } = run
    const work = workOf(run.resolvedMode)
    return {
      call: run.call,
      stealth: isStealth(request.mode),
      forVisitors: request.forVisitors ?? false,
      engineId: run.engineId,
      system: run.system,
      history: run.history,
      images: run.images,
      maxOutputTokens: run.maxOutputTokens,
      prompt: request.prompt,
      after: request.after,
      temperature: request.temperature,
      mode: work,
      json: request.json || wantsJson(work),
      signal: run.deadline.signal,
      acting: run.toolset && actingOf(run, run.toolset),
      offered: run.offered,
    }
  }

  function actingOf(run: Run, toolset: Acting['toolset']): Acting {
    const { call, request } = run
    return {
      toolset,
      call,
      spent: run.spent,
      maxIterations: request.maxIterations,
      ...(request.bounds ? { maxCalls: request.bounds.toolCalls } : {}),
      conversationId: run.attached,
      guard: run.guard,
      afford: (wanted) => money.afford(run, wanted),
      unpaid: () => toolsUnpaid(),
    }
  }
}

/** Why a run ended, in terms of its caller: the time was up, the client left, or the prompt is too long. */
export function explained(run: Run, error: unknown): unknown {
  if (run.deadline.timedOut()) return requestTimeout(run.write ? 600 : 120, run.request.mode)
  if (run.call.signal.aborted || error instanceof ReaderLeft) return clientLeft()
  const isTooLong = error instanceof AppError && error.kind === 'invalid' && error.param === 'prompt'
  return isTooLong && run.request.cameFrom ? atField(error, run.request.cameFrom.whole) : error
}
