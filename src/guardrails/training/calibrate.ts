import { type Scored, sharpnessFor } from '../../kernel/text-model/calibrate'
import type { Model } from '../../kernel/text-model/model'
import { softmax } from '../../kernel/text-model/softmax'

/** What rules ask for when they do not say (contract 12). */
const USUAL_THRESHOLD = 0.8
const MOST_SHIFT = 4
const STEP = 0.05

/**
 * The model, as sharp as fits what was not learned from, and leaning as far from ordinary texts as the false
 * alarms of the usual threshold allow: of the ordinary texts at most the share `mostAlarms`.
 */
export function calibrated(model: Model, scored: readonly Scored[], mostAlarms: number): Model {
  const sharpness = sharpnessFor(scored)
  const ordinary = scored.filter(({ target }) => target === 0)
  let shift = -MOST_SHIFT
  while (shift < MOST_SHIFT && alarmsOf(ordinary, sharpness, shift) > mostAlarms) shift += STEP
  return { ...model, bias: model.bias.map((score, place) => (place === 0 ? score + shift : score)), sharpness }
}

/** The share that is taken for something else when ordinary texts score so much more. */
function alarmsOf(ordinary: readonly Scored[], sharpness: number, shift: number): number {
  const alarms = ordinary.filter(({ scores }) => {
    const chances = softmax(scores.map((score, place) => (place === 0 ? score + shift : score) * sharpness))
    return 1 - chances[0]! >= USUAL_THRESHOLD
  })
  return alarms.length / ordinary.length
}
