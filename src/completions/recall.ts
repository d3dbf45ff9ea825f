import type { Progress } from './aloud'
import type { AnswerCache, StoredAnswer } from './cache'
import type { Stages } from './pipeline'
import type { Opened, Result } from './run'

type Deps = Pick<Stages, 'admitCached' | 'replay'>

/**
 * The semantic cache around a run (contract 22.1): an answer that is known, or that an identical request
 * is making right now, is handed out again at no cost; otherwise the run leads and others may join it.
 */
export function createRecall(stages: Deps, cache: AnswerCache) {
  /** A remembered answer, or what `think` makes. */
  async function remembered(run: Opened, think: () => Promise<Result>): Promise<Result> {
    const known = recall(run)
    const answer = known instanceof Promise ? await known : known
    return answer ? replay(run, answer) : leading(run, think)
  }

  /** The same as a stream. A stream never leads: its first reader may leave. */
  async function* recited(run: Opened, think: () => AsyncGenerator<Progress>): AsyncGenerator<Progress> {
    const answer = await recall(run)
    yield* answer ? recite(run, answer) : think()
  }

  /** Null comes at once and not as a promise: nobody may slip in between looking and leading. */
  function recall({ cacheKey, ask }: Opened): StoredAnswer | null | Promise<StoredAnswer | null> {
    if (!cacheKey || ask.cache === 'refresh') return null
    return cache.get(cacheKey) ?? cache.pending(cacheKey) ?? null
  }

  async function leading(run: Opened, think: () => Promise<Result>): Promise<Result> {
    if (!run.cacheKey) return think()
    const settle = cache.lead(run.cacheKey)
    try {
      const result = await think()
      settle(result.answer)
      return result
    } catch (error) {
      settle(null)
      throw error
    }
  }

  async function replay(run: Opened, answer: StoredAnswer): Promise<Result> {
    stages.admitCached(run, answer.resolvedMode)
    return stages.replay(run, answer)
  }

  async function* recite(run: Opened, answer: StoredAnswer): AsyncGenerator<Progress> {
    const result = await replay(run, answer)
    const { id, resolvedMode, model, routing } = answer
    yield { type: 'began', run: { ...run, id, resolvedMode, model, routing } }
    yield { type: 'text', text: answer.content }
    yield { type: 'ended', run, result }
  }

  return { remembered, recited }
}
