import { HELD } from './hold-back'
import type { Judgement } from './judge'
import type { Asked, Judge } from './judges'
import { MOST_LOOKS } from './review'

/**
 * Judges stretches of an answer on its way out. Where the rules are unsure of what would be let out next, an engine
 * is asked before it is: of the first four such passages of a stream, for its reader waits for each. What it would
 * say of more comes with the end, where the answer is judged as a whole, when they have been read.
 */
export function createStreamJudge(judge: Pick<Judge, 'texts' | 'second'>, asked: Asked) {
  const looks = { left: MOST_LOOKS }
  /** Passages come again with the stretch behind them. */
  const known = new Set<string>()

  return async (text: string): Promise<Judgement> => {
    const judged = (await judge.texts(asked, [text]))[0]!
    const doubts = judged.doubts.filter(({ place, start, end }) => {
      // What stays held back is looked at again, with what comes behind it.
      if (start >= text.length - HELD) return false
      const passage = `${place} ${judged.text.slice(start, end)}`
      return !known.has(passage) && known.add(passage)
    })
    return doubts.length ? judge.second({ ...asked, looks }, { ...judged, doubts }) : judged
  }
}
