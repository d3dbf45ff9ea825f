import { type Features, type Model, type Shape, softmax } from '../text/model'

/** The features of a text and the index of its class. */
export type Example = { features: Features; target: number }

/** `slots` contains one row per feature slot with a weight for each class. `bias` is the base score of each class. */
export type Weights = { slots: Float64Array; bias: Float64Array }

const ROUNDS = 16
const RATE = 0.6
/** Pulls every weight towards zero, so that a rare word has little influence. */
const DECAY = 2e-5

/** Multinomial logistic regression with AdaGrad. The same examples in the same order give the same weights. */
export function learn(examples: readonly Example[], shape: Shape): Weights {
  const { classes } = shape
  const slots = new Float64Array(shape.slots * classes)
  const bias = new Float64Array(classes)
  const seen = new Float64Array(shape.slots * classes).fill(1e-2)
  const scores = new Float64Array(classes)
  const mask = shape.slots - 1
  for (let round = 0; round < ROUNDS; round++) {
    for (const number of shuffled(examples.length, round)) {
      const { features, target } = examples[number]!
      const chances = softmax(score(features, slots, bias, scores, mask))
      for (let index = 0; index < classes; index++) {
        const error = chances[index]! - (index === target ? 1 : 0)
        bias[index] = bias[index]! - 0.02 * error
        for (let at = 0; at < features.slots.length; at++) {
          const cell = (features.slots[at]! & mask) * classes + index
          const slope = error * features.weights[at]! + DECAY * slots[cell]!
          seen[cell] = seen[cell]! + slope * slope
          slots[cell] = slots[cell]! - (RATE * slope) / Math.sqrt(seen[cell]!)
        }
      }
    }
  }
  return { slots, bias }
}

/** Scores of a text by class, written into `into`. */
function score(
  { slots, weights }: Features,
  rows: Float64Array,
  bias: Float64Array,
  into: Float64Array,
  mask: number,
): Float64Array {
  const classes = bias.length
  into.set(bias)
  for (let at = 0; at < slots.length; at++) {
    const row = (slots[at]! & mask) * classes
    const weight = weights[at]!
    for (let index = 0; index < classes; index++) into[index] = into[index]! + weight * rows[row + index]!
  }
  return into
}

/** The average of two sets of weights. */
export const between = (one: Weights, other: Weights): Weights => ({
  slots: one.slots.map((weight, cell) => (weight + other.slots[cell]!) / 2),
  bias: one.bias.map((weight, cell) => (weight + other.bias[cell]!) / 2),
})

/** Rounds the weights to whole numbers from -127 to 127, for a smaller model file without loss of accuracy. */
export function rounded({ slots, bias }: Weights): Model {
  const max = slots.reduce((top, weight) => Math.max(top, Math.abs(weight)), 0)
  const scale = max / 127
  return { rows: Int8Array.from(slots, (weight) => Math.round(weight / scale)), bias, scale, sharpness: 1 }
}

/** The indexes 0 to n-1, shuffled differently in each round but the same way in every run. */
function shuffled(n: number, round: number): Uint32Array {
  const input = Uint32Array.from({ length: n }, (_, index) => index)
  let state = (round + 1) * 2654435761
  for (let last = n - 1; last > 0; last--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    const other = Math.floor((state / 2 ** 32) * (last + 1))
    const held = input[last]!
    input[last] = input[other]!
    input[other] = held
  }
  return input
}

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
