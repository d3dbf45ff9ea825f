import { keyIdOf } from '../kernel/caller'
import type { Progress } from './aloud'
import type { AnswerCache, StoredAnswer } from './cache'
import type { Stages } from './pipeline'
import type { Opened, Result } from './run'

type Deps = Pick<Stages, 'admitCached' | 'replay'>

/**
 * The answer cache around a run (contract 22.1). A cached answer, or one that an identical request is producing, is
 * served at no cost. Otherwise this run produces the answer, and identical requests may wait for it.
 */
export function createRecall(stages: Deps, cache: AnswerCache) {
  /** A cached answer, or the result of `think`. */
  async function remembered(run: Opened, think: () => Promise<Result>): Promise<Result> {
    const known = recall(run)
    const answer = known instanceof Promise ? await known : known
    if (answer) return replay(run, answer)
    return leading(run, think)
  }

  /** The same for a stream. It waits for no other run, and no run waits for it, since its reader may leave. */
  async function* recited(run: Opened, think: () => AsyncGenerator<Progress>): AsyncGenerator<Progress> {
    const answer = kept(run)
    if (run.cacheKey && !answer) cache.missed()
    yield* answer ? recite(run, await replay(run, answer)) : think()
  }

  /** Returns null synchronously: with an await before `cache.lead`, two identical runs could both start. */
  function recall(run: Opened): StoredAnswer | null | Promise<StoredAnswer | null> {
    const isOpen = run.cacheKey !== null && run.ask.cache !== 'refresh'
    return kept(run) ?? (isOpen ? (cache.pending(flightOf(run, run.cacheKey)) ?? null) : null)
  }

  function kept({ cacheKey, ask }: Opened): StoredAnswer | null {
    return cacheKey === null || ask.cache === 'refresh' ? null : cache.get(cacheKey)
  }

  async function leading(run: Opened, think: () => Promise<Result>): Promise<Result> {
    if (!run.cacheKey) return think()
    cache.missed()
    const settle = cache.lead(flightOf(run, run.cacheKey))
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

  async function* recite(run: Opened, result: Result): AsyncGenerator<Progress> {
    const { answer } = result
    const { id, resolvedMode, model, routing } = answer
    yield { type: 'began', run: { ...run, id, resolvedMode, model, routing } }
    yield { type: 'text', text: answer.content }
    yield { type: 'ended', run, result }
  }

  return { remembered, recited }
}

/** Only requests of one key share a run in flight (contract 22.1); cached answers may serve all keys of a user. */
const flightOf = ({ call }: Opened, cacheKey: string): string => `${keyIdOf(call.caller) ?? 'session'} ${cacheKey}`
