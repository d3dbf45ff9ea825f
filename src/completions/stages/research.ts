import type { Clock } from '../../kernel/clock'
import { type Findings, isNothingToRead, type ResearchService, type Stored } from '../../research'
import type { AgentResult } from '../agent-schema'
import { workOf } from '../rules'
import type { Run } from '../run'
import { EMPTY, handOver, shown } from './hand-over'
import { researchUse } from './research-use'

type Deps = { research: Pick<ResearchService, 'inquire' | 'later'>; clock: Clock }

/** How long `auto` waits for a research before it goes on as a job (contract 2.4). */
const HAND_OVER_MS = 60_000

const IN_AUTO = { depth: 'basic', maxSources: 5 } as const
const REQUESTED_FOR = { depth: 'advanced', maxSources: 10 } as const

/**
 * How much a run may research; null for one that does not. What asks for tools, functions or JSON is for the agent, and
 * so is a question in a conversation that nobody named research: its words alone do not say what is meant.
 */
export function researchOf({ request, history, resolvedMode }: Run): Run['researchRun'] {
  const isPlain =
    !request.functions &&
    !request.json &&
    !request.checkJson &&
    !request.tools.length &&
    !request.sealed &&
    !request.bounds
  if (workOf(resolvedMode) !== 'research' || !isPlain || (request.mode === 'auto' && history.length)) return null
  return request.mode === 'auto' ? IN_AUTO : REQUESTED_FOR
}

/** Researches within a request, in the same way as `POST /research` (contract 2.4). */
export function createResearch({ research, clock }: Deps) {
  /** Null when there is nothing to read: then the engine answers from what it knows, and a warning says so. */
  return async function runResearch(run: Run): Promise<AgentResult | null> {
    if (!run.researchRun) return null
    const request = { prompt: run.request.prompt, ...run.researchRun }
    const memory: Stored = new Map()
    const handingOver = new AbortController()
    const disarm = run.request.mode === 'auto' ? clock.after(HAND_OVER_MS, () => handingOver.abort()) : () => undefined
    const signal = AbortSignal.any([run.deadline.signal, handingOver.signal])
    try {
      const found = await research.inquire(run.call, request, { memory, signal, guard: run.guard })
      return await shown(run, agentResultOf(run, found))
    } catch (error) {
      if (isNothingToRead(error)) {
        run.warnings = [...run.warnings, `There is no research report. ${error.message}`]
        return null
      }
      if (!handingOver.signal.aborted || run.deadline.signal.aborted) throw error
      return shown(
        run,
        handOver(run, await research.later(run.call, request, memory), 'This takes longer than a minute'),
      )
    } finally {
      disarm()
    }
  }
}

function agentResultOf(run: Run, found: Findings): AgentResult {
  const { report, turns, pages, warnings } = found
  const last = turns.at(-1)
  const engineId = last?.engineId ?? run.engineId
  const counted = turns.map((turn, at) => (at === turns.length - 1 ? { ...turn, pages } : turn))
  const sum = (of: 'promptTokens' | 'completionTokens') => turns.reduce((total, turn) => total + turn[of], 0)
  return {
    ...EMPTY,
    engineId,
    free: last?.free ?? true,
    promptTokens: sum('promptTokens'),
    completionTokens: sum('completionTokens'),
    content: report,
    turns: counted,
    toolUses: [researchUse(run, found)],
    warnings: warnings.slice(0, 20),
  }
}
