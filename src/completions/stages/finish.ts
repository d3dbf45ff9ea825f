import type { Thought } from '../../agent/schema'
import type { Billing, Prices } from '../../billing'
import type { ConversationService } from '../../conversations'
import { ownerOf } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { AppError } from '../../kernel/errors'
import { failpoint } from '../../kernel/failpoint'
import { microToCents } from '../../kernel/money'
import type { Store, Tx } from '../../kernel/store'
import { codeArtifacts } from '../artifacts'
import type { StoredAnswer } from '../cache'
import { suggestFollowUps } from '../follow-ups'
import type { createRemember } from '../remember'
import { firedIn, structuredOutput, workOf } from '../rules'
import type { Admitted, Opened, Result } from '../run'
import { costOfTurns } from './fund'
import type { createRecord, Known } from './record'

type Deps = {
  store: Store
  clock: Clock
  billing: Billing
  prices: Prices
  conversations: ConversationService
  record: ReturnType<typeof createRecord>
  remember: ReturnType<typeof createRemember>
}

/**
 * Ends every admitted run: money, conversation, usage, audit and event are written in one transaction, and only then
 * the answer is given (design 1.4).
 */
export function createFinish({ store, clock, billing, prices, conversations, record, remember }: Deps) {
  return { finish, fail, abandon, replay }

  /** For a complete or interrupted answer: what was produced is charged and stored. */
  async function finish(run: Admitted, thought: Thought, broken?: unknown): Promise<Result> {
    const interrupted = broken !== undefined
    const cost = Math.min(costOfTurns(prices, thought.turns), run.hold?.amount ?? 0)
    const answer = toAnswer(run, thought, clock.now())
    failpoint('engine_done_before_settle')
    const { result, costMicro } = await ending(run, async (tx) => {
      // Nothing when the hold had ended: another node released it while this process was paused.
      const costMicro = run.hold ? await billing.settle(tx, run.hold, cost) : 0
      const conversationId = await keepTurn(tx, run, answer, costMicro, interrupted)
      const ended = { ...endingOf(broken), thought, costMicro, cached: false, conversationId }
      await record(tx, run, { ...ended, guardrails: firedIn(run, answer) })
      if (run.ask.alongside) await run.ask.alongside(tx)
      const usage = usageOf(answer, costMicro)
      return { result: await resultOf(tx, run, { answer, costMicro, conversationId, usage }), costMicro }
    })
    failpoint('settle_commit_before_ack')
    run.correctTokens(thought.promptTokens + thought.completionTokens)
    if (!interrupted) remember(run, thought, answer, costMicro)
    return result
  }

  /** For a run without an answer: the hold is released and the failure recorded. */
  async function fail(run: Admitted, error: unknown): Promise<void> {
    run.correctTokens(0)
    const nothing = { thought: null, costMicro: 0, cached: false, conversationId: null }
    const failed = { ...endingOf(error), ...nothing, guardrails: run.guard?.firings ?? [] }
    await ending(run, async (tx) => {
      if (run.hold) await billing.release(tx, run.hold)
      await record(tx, run, failed)
    })
  }

  /** The transaction that ends a run. When it fails, as without a database, the hold is released once that is possible. */
  async function ending<T>({ hold }: Admitted, unit: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await store.write(unit)
    } catch (error) {
      if (hold) billing.releaseLater(hold.ref)
      throw error
    }
  }

  /**
   * For a run that ended early. Charges the text the caller saw, or the finished turns when the caller left or time
   * ran out. Charges nothing when no answer came or the service failed (contract 2.4).
   */
  async function abandon(run: Admitted, partial: Thought, error: unknown): Promise<void> {
    const worked = run.spent.turns.length > 0 && run.deadline.signal.aborted
    if (partial.content || worked) await finish(run, partial, error)
    else await fail(run, error)
  }

  /** For a cached answer: stored as a turn and recorded, but not charged. */
  async function replay(run: Opened, answer: StoredAnswer): Promise<Result> {
    const known: Known = { ...run, resolvedMode: answer.resolvedMode, engineId: answer.model.id, model: answer.model }
    return store.write(async (tx) => {
      const conversationId = await keepTurn(tx, known, answer, 0, false)
      await record(tx, known, {
        status: 200,
        thought: null,
        costMicro: 0,
        cached: true,
        errorCode: null,
        conversationId,
        guardrails: firedIn(known, answer),
      })
      const usage = { ...usageOf(answer, 0), cached: true as const }
      return resultOf(tx, known, { answer, costMicro: 0, conversationId, usage })
    })
  }

  async function keepTurn(
    tx: Tx,
    { ask, call, attached, conversationId }: Known,
    answer: StoredAnswer,
    costMicro: number,
    interrupted: boolean,
  ) {
    if (conversationId === null || answer.toolCalls.length) return attached
    const turn = {
      prompt: ask.prompt,
      answer: answer.content,
      mode: ask.mode,
      resolvedMode: answer.resolvedMode,
      model: answer.model,
      tools: answer.toolsUsed.map(({ name, status, description }) => ({ toolName: name, status, description })),
      artifacts: answer.artifacts,
      followUps: answer.followUps,
      costMicro,
      status: interrupted ? ('interrupted' as const) : ('complete' as const),
    }
    const owner = ownerOf(call.caller)
    return attached
      ? conversations.append(tx, owner, attached, turn)
      : conversations.start(tx, owner, conversationId, turn)
  }
}

/** Returns the result; with an Idempotency-Key the answer is also stored in the same transaction (contract 1.7). */
function resultOf(tx: Tx, run: Opened, result: Result): Result | Promise<Result> {
  const { once } = run.call
  return once ? once.keep(tx, run.ask.present(run, result)).then(() => result) : result
}

function toAnswer(run: Admitted, thought: Thought, createdAt: number): StoredAnswer {
  const work = workOf(run.resolvedMode)
  const model = run.modelOf(thought.engineId)
  const asked = !thought.toolCalls.length && thought.finish !== 'content-filter'
  return {
    id: run.id,
    createdAt,
    content: thought.content,
    resolvedMode: run.resolvedMode,
    model,
    finish: thought.finish,
    toolsUsed: thought.toolUses.map(({ id: _, ...use }) => use),
    toolCalls: thought.toolCalls,
    refusal: asked ? refusalOf(run, thought) : null,
    artifacts: work === 'code' ? codeArtifacts(thought.content, { model, createdAt }) : [],
    followUps: run.ask.wantsFollowUps ? suggestFollowUps(work, thought.content) : [],
    skillsActive: run.active.skills.map(({ id, slug, name }) => ({ id, slug, name })),
    structuredOutput: structuredOutput(work, thought.content),
    routing: { ...run.routing, fallback_used: run.routing.fallback_used || thought.fallbackUsed },
    warnings: [...run.warnings, ...thought.warnings],
    guardrails: (run.guard?.firings ?? []).filter(({ phase }) => phase !== 'input'),
    promptTokens: thought.promptTokens,
    completionTokens: thought.completionTokens,
  }
}

/** Why the content does not have the form that was asked for; null when it has it or none was asked for. */
function refusalOf({ ask }: Admitted, { content, finish }: Thought): string | null {
  const problem = ask.checkJson?.(content) ?? null
  return problem && finish === 'length' ? `The answer was cut at the output limit. ${problem}` : problem
}

const usageOf = ({ promptTokens, completionTokens }: StoredAnswer, costMicro: number) => ({
  cost_cents: microToCents(costMicro),
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
})

const STATUS: Partial<Record<AppError['kind'], number>> = {
  timeout: 504,
  unavailable: 503,
  forbidden: 403,
  unpaid: 402,
  unauthenticated: 401,
  invalid: 400,
}

function endingOf(broken: unknown): { status: number; errorCode: string | null; broken?: unknown } {
  if (broken === undefined) return { status: 200, errorCode: null }
  if (!(broken instanceof AppError)) return { status: 500, errorCode: 'server_error', broken }
  return {
    status: broken.code === 'client_closed' ? 499 : (STATUS[broken.kind] ?? 500),
    errorCode: broken.code,
    broken,
  }
}
