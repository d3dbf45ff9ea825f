/** Chances from scores; sums to one. Written into `scores`, which is returned. */
export function softmax(scores: Float64Array): Float64Array {
  const most = Math.max(...scores)
  let sum = 0
  for (const [at, score] of scores.entries()) {
    const part = exp(score - most)
    scores[at] = part
    sum += part
  }
  for (const [at, part] of scores.entries()) scores[at] = part / sum
  return scores
}

/**
 * e to the power of a number of at most zero, from additions and products alone: these give the same bits on
 * every machine, which `Math.exp` does not promise and the check of the model file needs.
 */
function exp(power: number): number {
  if (power < -700) return 0
  const halvings = Math.round(power / Math.LN2)
  const rest = power - halvings * Math.LN2
  let sum = 1
  for (let term = 14; term > 0; term--) sum = 1 + (sum * rest) / term
  return sum * 2 ** halvings
}
