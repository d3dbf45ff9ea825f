import { softmax } from './model'

/** A model's scores for one text, one per class, and the index of the correct class. */
export type Scored = { scores: Float64Array; target: number }

const STEPS = 60

/**
 * The factor on scores, from 0.1 to 10, that makes confidence match the share of correct answers (temperature scaling).
 * `held` are scores of texts that the model was not trained on.
 */
export function sharpnessFor(held: readonly Scored[]): number {
  let low = 0.1
  let high = 10
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2
    if (tooSharp(held, middle)) high = middle
    else low = middle
  }
  return (low + high) / 2
}

/** Whether sharpening the scores further would lower the likelihood of the correct classes. */
function tooSharp(held: readonly Scored[], sharpness: number): boolean {
  let slope = 0
  for (const { scores, target } of held) {
    const chances = softmax(scores.map((score) => score * sharpness))
    for (const [mode, chance] of chances.entries()) slope += chance * scores[mode]!
    slope -= scores[target]!
  }
  return slope > 0
}
