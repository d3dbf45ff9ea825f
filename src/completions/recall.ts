import { keyIdOf } from '../kernel/caller'
import { sha256Hex } from '../kernel/crypto'
import type { Progress } from './aloud'
import type { AnswerCache, StoredAnswer } from './cache'
import type { Near } from './near'
import type { Stages } from './pipeline'
import type { Opened, Result } from './run'

type Deps = Pick<Stages, 'admitCached' | 'replay'>

/**
 * The semantic cache around a run (contract 22.1): an answer that is known, or that an identical request
 * is making right now, is handed out again at no cost; otherwise the run leads and others may join it.
 */
export function createRecall(stages: Deps, cache: AnswerCache, near: Near | null) {
  /** A remembered answer, or what `think` makes. */
  async function remembered(run: Opened, think: () => Promise<Result>): Promise<Result> {
    const known = recall(run)
    const answer = known instanceof Promise ? await known : known
    if (answer) return replay(run, answer)
    return leading(run, near ? async () => (await nearly(run)) ?? think() : think)
  }

  /** The same as a stream, which begins at once: it leads nobody, for its reader may leave, and waits for nobody. */
  async function* recited(run: Opened, think: () => AsyncGenerator<Progress>): AsyncGenerator<Progress> {
    const answer = kept(run)
    const result = answer ? await replay(run, answer) : await nearly(run)
    if (run.cacheKey && !result) cache.missed()
    yield* result ? recite(run, result) : think()
  }

  /** Null comes at once and not as a promise: nobody may slip in between looking and leading. */
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

  /** The answer to the same question in other words, from now on also this one's. Only where it is switched on. */
  async function nearly(run: Opened): Promise<Result | null> {
    if (!near || !run.cacheKey || run.ask.cache === 'refresh') return null
    const found = await near.find(run)
    if (!found) return null
    const { answer, ...about } = found.entry
    const said = { ...answer, warnings: [...answer.warnings, otherWords(found.similarity)] }
    const result = await replay(run, said)
    cache.keep(run.cacheKey, { ...about, answer: said, promptHash: sha256Hex(run.ask.prompt) })
    return result
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

/** Those of one key join each other (contract 22.1); of what is kept, all keys of a user have a share. */
const flightOf = ({ call }: Opened, cacheKey: string): string => `${keyIdOf(call.caller) ?? 'session'} ${cacheKey}`

const otherWords = (similarity: number): string =>
  `This answer was made for the same request in other words (similarity ${similarity.toFixed(3)}). Send Cache-Control: no-cache for one of its own.`
