import type { Model } from '../model/model'
import { type Sentences, weightOf } from './features'
import weights from './weights.json'

/** What speaks for an attack in a text: the logit of its worst stretch, that of all its words, how many sentences. */
export type Evidence = { stretch: number; whole: number; sentences: number }
export type Weights = Record<keyof Evidence | 'long' | 'offset', number>

/** Texts of so many sentences are documents rather than requests, and must speak more for an attack. */
const LONG = 5

/** The probability of an attack, fitted on texts of writers whom the models had not seen. */
export function weigh({ stretch, whole, sentences }: Evidence, by: Weights = weights): number {
  const forLength = by.sentences * Math.log(sentences + 1) + (sentences < LONG ? 0 : by.long)
  return 1 / (1 + Math.exp(-(by.stretch * stretch + by.whole * whole + forLength + by.offset)))
}

/** What a text is about may not outweigh what its sentences say. */
const MOST_WHOLE = 3

/** Such words are an attack's rather than an honest text's, wherever in the text they stand. */
export function wholeOf({ rows, bias, scale }: Model, { slots, slotsEnd, count }: Sentences): number {
  const end = count ? slotsEnd[count - 1]! : 0
  let sum = 0
  for (let at = 0; at < end; at++) sum += rows[slots[at]! * 2 + 1]! - rows[slots[at]! * 2]!
  const logit = sum * scale * weightOf(end) + bias[1]! - bias[0]!
  return Math.max(-MOST_WHOLE, Math.min(MOST_WHOLE, logit))
}

/** The logit of a probability; bounded, because a sum of numbers may round to one. */
export const logitOf = (chance: number): number => {
  const bounded = Math.min(1 - 1e-9, Math.max(1e-9, chance))
  return Math.log(bounded / (1 - bounded))
}
