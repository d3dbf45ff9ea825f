import { type Model, scoresOf } from '../model'
import { promptFeaturesOf } from '../model-prompt-features'
import { type Sentences, weightOf } from './features'
import weights from './weights.json'

/**
 * The evidence for an attack in a text: the logits of its worst stretch, of all its words and of its ends, and its
 * number of sentences.
 */
export type Evidence = { stretch: number; whole: number; ends: number; sentences: number }
export type Weights = Record<keyof Evidence | 'long' | 'offset', number>

/** Texts with this many sentences are documents rather than requests, and need stronger evidence of an attack. */
export const LONG = 4

/** The probability of an attack, fitted on texts of writers whom the models had not seen. */
export function weigh({ stretch, whole, ends, sentences }: Evidence, by: Weights = weights): number {
  const forLength = by.sentences * Math.log(sentences + 1) + (sentences < LONG ? 0 : by.long)
  return 1 / (1 + Math.exp(-(by.stretch * stretch + by.whole * whole + by.ends * ends + forLength + by.offset)))
}

/**
 * Probability from which a rule's finding in plain words counts as an attack. 150 of 151 attacks of unseen writers
 * reach it, and nine of 38 findings in honest texts.
 */
export const MIN_BELIEVED = 0.1

/** Maximum influence of a text's subject, which must not outweigh its sentences. */
const MAX_WHOLE = 3
/** Smaller for its ends, because honest requests for a role begin as attacks do. */
const MAX_ENDS = 2
const bounded = (logit: number, max: number): number => Math.max(-max, Math.min(max, logit))

/** The logit of the words being those of an attack rather than of an honest text, regardless of their position. */
export function wholeOf({ rows, bias, scale }: Model, { slots, slotsEnd, count }: Sentences): number {
  const end = count ? slotsEnd[count - 1]! : 0
  let sum = 0
  for (let at = 0; at < end; at++) sum += rows[slots[at]! * 2 + 1]! - rows[slots[at]! * 2]!
  return bounded(sum * scale * weightOf(end) + bias[1]! - bias[0]!, MAX_WHOLE)
}

/** The logit of the ends, read by pieces of words, being those of an attack rather than of an honest text. */
export function endsOf(model: Model, text: string): number {
  const [honest, attack] = scoresOf(model, promptFeaturesOf(text))
  return bounded(attack! - honest!, MAX_ENDS)
}

/** The logit of a probability. Bounded, because a sum of numbers may round to one. */
export const logitOf = (chance: number): number => {
  const inside = Math.min(1 - 1e-9, Math.max(1e-9, chance))
  return Math.log(inside / (1 - inside))
}
