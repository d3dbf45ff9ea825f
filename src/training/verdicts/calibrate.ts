import { type Model, softmax } from '../../text/model'
import { type Scored, sharpnessFor } from '../learn'

/** The threshold of rules without their own (docs/api.md 12). */
const USUAL_THRESHOLD = 0.8
const MAX_SHIFT = 4
const STEP = 0.05

/**
 * Fits the probabilities of the model to held-out scores, and moves its bias as far from the ordinary class as the
 * limit on false alarms allows: at the usual threshold at most the share `maxAlarms` of the ordinary texts.
 */
export function calibrated(model: Model, scored: readonly Scored[], maxAlarms: number): Model {
  const sharpness = sharpnessFor(scored)
  const ordinary = scored.filter(({ target }) => target === 0)
  let shift = -MAX_SHIFT
  while (shift < MAX_SHIFT && alarmsOf(ordinary, sharpness, shift) > maxAlarms) shift += STEP
  return { ...model, bias: model.bias.map((score, index) => (index === 0 ? score + shift : score)), sharpness }
}

/** The share of ordinary texts that become false alarms when the score of the ordinary class increases by `shift`. */
function alarmsOf(ordinary: readonly Scored[], sharpness: number, shift: number): number {
  const alarms = ordinary.filter(({ scores }) => {
    const chances = softmax(scores.map((score, index) => (index === 0 ? score + shift : score) * sharpness))
    return 1 - chances[0]! >= USUAL_THRESHOLD
  })
  return alarms.length / ordinary.length
}
