import { type Call, ownerOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { microToCents } from '../kernel/money'
import type { Trace, TraceStep } from '../kernel/trace'
import type { Stages } from './pipeline'
import type { Run } from './run'

type Facts = NonNullable<TraceStep['facts']>

/** What a stage decided. Of prompts, answers and names of files there is nothing. */
const FACTS: Partial<Record<keyof Stages, (run: Run) => Facts>> = {
  open: ({ call, request, active, guard }) => ({
    owner: ownerOf(call.caller),
    mode: request.mode,
    skills: active.skills.length,
    guarded: guard !== null,
  }),
  guardInput: firings,
  guardOutput: firings,
  decide: ({ resolvedMode, engineId, routing, promptTokens }) => ({
    mode: resolvedMode,
    engine: engineId,
    by: routing.source,
    confidence: routing.confidence,
    prompt_tokens: promptTokens,
  }),
  admit: ({ hold }) => ({ held_cents: hold ? microToCents(hold.amount) : 0 }),
  think: ({ spent }) => ({ turns: spent.turns.length, tools: spent.uses.length }),
  finish: ({ costMicro }) => ({ cost_cents: microToCents(costMicro) }),
  replay: ({ resolvedMode, engineId }) => ({ mode: resolvedMode, engine: engineId, cost_cents: 0 }),
  abandon: ({ costMicro }) => ({ cost_cents: microToCents(costMicro) }),
}

function firings({ guard }: Run): Facts {
  const fired = guard?.firings ?? []
  return { fired: fired.map((one) => `${one.phase} ${one.guardrail_id} ${one.verdict}`).join(', ') || 'nothing' }
}

/** The stages, each of which tells how long it took and what came of it. */
export function traced(stages: Stages, { clock, trace }: { clock: Clock; trace: Trace }): Stages {
  const told = { ...stages }
  for (const name of Object.keys(FACTS) as (keyof Stages)[]) {
    const stage = stages[name] as (first: Run | Call, second: unknown, third: unknown) => Promise<unknown>
    const factsOf = FACTS[name]!
    Object.assign(told, {
      [name]: async (first: Run | Call, second: unknown, third: unknown) => {
        const from = clock.monotonic()
        const requestId = 'call' in first ? first.call.requestId : first.requestId
        const end = (facts: Facts) => trace(requestId, { kind: 'stage', name, ms: clock.monotonic() - from, facts })
        try {
          const made = await stage(first, second, third)
          const facts = factsOf(name === 'open' ? (made as Run) : (first as Run))
          end(name === 'abandon' ? { ...facts, ...failureOf(made) } : facts)
          return made
        } catch (error) {
          end(failureOf(error))
          throw error
        }
      },
    })
  }
  return told
}

const failureOf = (error: unknown): Facts => ({
  failed: error instanceof AppError ? error.code : error instanceof Error ? error.name : 'unknown',
})
