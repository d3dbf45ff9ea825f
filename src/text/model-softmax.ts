/** Turns scores into probabilities that sum to one, in place; returns `scores`. */
export function softmax(scores: Float64Array): Float64Array {
  const max = Math.max(...scores)
  let sum = 0
  for (const [at, score] of scores.entries()) {
    const part = exp(score - max)
    scores[at] = part
    sum += part
  }
  for (const [at, part] of scores.entries()) scores[at] = part / sum
  return scores
}

/**
 * `Math.exp` for numbers of at most zero, from basic arithmetic only: that gives the same bits on every machine,
 * which `Math.exp` does not guarantee and the check of the model file needs.
 */
function exp(power: number): number {
  if (power < -700) return 0
  const halvings = Math.round(power / Math.LN2)
  const rest = power - halvings * Math.LN2
  let sum = 1
  for (let term = 14; term > 0; term--) sum = 1 + (sum * rest) / term
  return sum * 2 ** halvings
}
