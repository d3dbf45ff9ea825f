import { type Call, ownerOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { microToCents } from '../kernel/money'
import type { Trace, TraceStep } from '../kernel/trace'
import type { Run } from './run'

type Facts = NonNullable<TraceStep['facts']>

/** What a stage decided. Of prompts, answers and names of files there is nothing. */
const FACTS = {
  open: ({ call, request, active, guard }: Run): Facts => ({
    owner: ownerOf(call.caller),
    mode: request.mode,
    skills: active.skills.length,
    guarded: guard !== null,
  }),
  guardInput: firings,
  guardOutput: firings,
  decide: ({ resolvedMode, engineId, routing, promptTokens }: Run): Facts => ({
    mode: resolvedMode,
    engine: engineId,
    by: routing.source,
    confidence: routing.confidence,
    prompt_tokens: promptTokens,
  }),
  admit: ({ hold }: Run): Facts => ({ held_cents: hold ? microToCents(hold.amount) : 0 }),
  think: ({ spent }: Run): Facts => ({ turns: spent.turns.length, tools: spent.uses.length }),
  finish: ({ costMicro }: Run): Facts => ({ cost_cents: microToCents(costMicro) }),
  replay: ({ resolvedMode, engineId }: Run): Facts => ({ mode: resolvedMode, engine: engineId, cost_cents: 0 }),
  abandon: ({ costMicro }: Run): Facts => ({ cost_cents: microToCents(costMicro) }),
}

/** A stage that operators are told of. */
export type Stage = keyof typeof FACTS

function firings({ guard }: Run): Facts {
  const fired = guard?.firings ?? []
  return { fired: fired.map((one) => `${one.phase} ${one.guardrail_id} ${one.verdict}`).join(', ') || 'nothing' }
}

export type StageTrace = ReturnType<typeof createStageTrace>

/** Tells of each stage of a run how long it took and what came of it. */
export function createStageTrace({ clock, trace }: { clock: Clock; trace: Trace }) {
  return {
    now: (): number => clock.monotonic(),

    /** The run that began at `from` is open. */
    opened(run: Run, from: number): void {
      tell(run.call, 'open', from, FACTS.open(run))
    },

    /** The request that came at `from` was refused before it was a run. */
    refused(call: Call, from: number, error: unknown): void {
      tell(call, 'open', from, failureOf(error))
    },

    /** A stage begins, and the one before it has ended, with `error` if it failed. */
    begin(run: Run, stage: Stage, error?: unknown): void {
      this.end(run, error)
      run.stage = stage
      run.stageAt = clock.monotonic()
    },

    /** The stage that was begun has ended, with `error` if it failed. Nothing where none was begun. */
    end(run: Run, error?: unknown): void {
      const { stage } = run
      if (stage === null) return
      run.stage = null
      const facts = FACTS[stage](run)
      tell(run.call, stage, run.stageAt, error === undefined ? facts : { ...facts, ...failureOf(error) })
    },
  }

  function tell({ requestId }: Call, name: Stage, from: number, facts: Facts): void {
    trace(requestId, 'stage', name, clock.monotonic() - from, facts)
  }
}

const failureOf = (error: unknown): Facts => ({
  failed: error instanceof AppError ? error.code : error instanceof Error ? error.name : 'unknown',
})
