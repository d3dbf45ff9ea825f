import { type Features, SLOTS } from '../features'
import { TEXT_MODES } from '../modes'
import { softmax } from '../softmax'

/** A prompt's features and the place of its mode in {@link TEXT_MODES}. */
export type Example = { features: Features; target: number }

/** One row of scores a slot, one score a mode, side by side; `bias` is what a mode scores before any word. */
export type Weights = { slots: Float64Array; bias: Float64Array }

const MODES = TEXT_MODES.length
const ROUNDS = 16
const RATE = 0.6
/** Pulls every weight towards zero, so that a rare word decides little. */
const DECAY = 2e-5

/** Multinomial logistic regression by AdaGrad. The same examples in the same order give the same weights. */
export function learn(examples: readonly Example[]): Weights {
  const slots = new Float64Array(SLOTS * MODES)
  const bias = new Float64Array(MODES)
  const seen = new Float64Array(SLOTS * MODES).fill(1e-2)
  const scores = new Float64Array(MODES)
  for (let round = 0; round < ROUNDS; round++) {
    for (const place of shuffled(examples.length, round)) {
      const { features, target } = examples[place]!
      const chances = softmax(score(features, slots, bias, scores))
      for (let mode = 0; mode < MODES; mode++) {
        const error = chances[mode]! - (mode === target ? 1 : 0)
        bias[mode] = bias[mode]! - 0.02 * error
        for (let at = 0; at < features.slots.length; at++) {
          const cell = features.slots[at]! * MODES + mode
          const slope = error * features.weights[at]! + DECAY * slots[cell]!
          seen[cell] = seen[cell]! + slope * slope
          slots[cell] = slots[cell]! - (RATE * slope) / Math.sqrt(seen[cell]!)
        }
      }
    }
  }
  return { slots, bias }
}

/** Scores of a text by mode, written into `into`. */
function score({ slots, weights }: Features, rows: Float64Array, bias: Float64Array, into: Float64Array): Float64Array {
  into.set(bias)
  for (let at = 0; at < slots.length; at++) {
    const row = slots[at]! * MODES
    const weight = weights[at]!
    for (let mode = 0; mode < MODES; mode++) into[mode] = into[mode]! + weight * rows[row + mode]!
  }
  return into
}

/** The places 0 to n-1 in an order that differs each round and never between runs. */
function shuffled(n: number, round: number): Uint32Array {
  const order = Uint32Array.from({ length: n }, (_, place) => place)
  let state = (round + 1) * 2654435761
  for (let last = n - 1; last > 0; last--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    const other = Math.floor((state / 2 ** 32) * (last + 1))
    const held = order[last]!
    order[last] = order[other]!
    order[other] = held
  }
  return order
}
