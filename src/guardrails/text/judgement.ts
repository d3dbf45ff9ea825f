import type { Model } from '../../kernel/text-model/model'
import { softmax } from '../../kernel/text-model/softmax'
import { type Sentence, weightOf } from './features'

/** How likely some stretch of a text is what is looked for, and which stretch it is. */
export type Likely = { chance: number; start: number; end: number }

/** A word or two by themselves say too little. */
const LEAST_TOKENS = 3
/** Below this, with 0.8 for a finding, nobody has to look again. */
const LEAST_SUSPECT = 0.5

/**
 * The likeliest stretch for each class; in the place of the first, which is that of ordinary texts, for all others
 * together. Looks at every sentence,
 * alone and with the one after it: what is meant to go unseen stands between ordinary ones. Stretches that are
 * anything but plainly ordinary are added to `suspects`, in the order of the text.
 */
export function likeliest(model: Model, sentences: readonly Sentence[], suspects: Likely[] = []): Likely[] {
  const classes = model.bias.length
  const best = Array.from({ length: classes }, (): Likely => ({ chance: 0, start: 0, end: 0 }))
  let before: { sums: Float64Array; count: number; start: number } | null = null
  for (const { slots, tokens, start, end } of sentences) {
    const sums = sumsOf(model, slots)
    const alone = chancesOf(model, sums, slots.length)
    if (tokens >= LEAST_TOKENS) raise(best, alone, start, end)
    if (1 - alone[0]! >= LEAST_SUSPECT) suspects.push({ chance: 1 - alone[0]!, start, end })
    if (before) {
      const both = sums.map((sum, place) => sum + before!.sums[place]!)
      const chances = chancesOf(model, both, slots.length + before.count)
      raise(best, chances, before.start, end)
      if (1 - chances[0]! >= LEAST_SUSPECT) suspects.push({ chance: 1 - chances[0]!, start: before.start, end })
    }
    before = { sums, count: slots.length, start }
  }
  return best
}

function sumsOf({ rows, bias }: Model, slots: Uint32Array): Float64Array {
  const classes = bias.length
  const sums = new Float64Array(classes)
  for (let at = 0; at < slots.length; at++) {
    const row = slots[at]! * classes
    for (let place = 0; place < classes; place++) sums[place] = sums[place]! + rows[row + place]!
  }
  return sums
}

const chancesOf = ({ bias, scale, sharpness }: Model, sums: Float64Array, count: number): Float64Array =>
  softmax(sums.map((sum, place) => (sum * weightOf(count) * scale + bias[place]!) * sharpness))

function raise(best: Likely[], chances: Float64Array, start: number, end: number): void {
  for (let place = 0; place < chances.length; place++) {
    const chance = place === 0 ? 1 - chances[0]! : chances[place]!
    if (chance > best[place]!.chance) best[place] = { chance, start, end }
  }
}
