import { softmax } from './softmax'

/** What a model scored for one text, and the place of the class that was right. */
export type Scored = { scores: Float64Array; target: number }

const STEPS = 60

/**
 * The factor on scores under which confidence best fits how often answers are right (temperature scaling on
 * texts the model was not trained on). Between a tenth and ten.
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

/** Whether the likelihood of what was right falls as scores are sharpened further. */
function tooSharp(held: readonly Scored[], sharpness: number): boolean {
  let slope = 0
  for (const { scores, target } of held) {
    const chances = softmax(scores.map((score) => score * sharpness))
    for (const [mode, chance] of chances.entries()) slope += chance * scores[mode]!
    slope -= scores[target]!
  }
  return slope > 0
}
