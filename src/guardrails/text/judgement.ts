import type { Model } from '../../kernel/text-model/model'
import { type Sentences, weightOf } from './features'

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
export function likeliest(model: Model, sentences: Sentences, suspects: Likely[] = []): Likely[] {
  const classes = model.bias.length
  const best = Array.from({ length: classes }, (): Likely => ({ chance: 0, start: 0, end: 0 }))
  const chances = new Float64Array(classes)
  const both = new Float64Array(classes)
  let sums = new Float64Array(classes)
  let sumsBefore = new Float64Array(classes)
  let [from, countBefore, startBefore] = [0, -1, 0]
  for (let at = 0; at < sentences.count; at++) {
    const start = sentences.starts[at]!
    const end = sentences.ends[at]!
    const to = sentences.slotsEnd[at]!
    sumUp(model, sentences.slots, from, to, sums)
    const alone = setChances(model, sums, to - from, chances)
    if (sentences.tokens[at]! >= LEAST_TOKENS) raise(best, chances, start, end)
    if (alone >= LEAST_SUSPECT) suspects.push({ chance: alone, start, end })
    if (countBefore >= 0) {
      for (let place = 0; place < classes; place++) both[place] = sums[place]! + sumsBefore[place]!
      const together = setChances(model, both, to - from + countBefore, chances)
      raise(best, chances, startBefore, end)
      if (together >= LEAST_SUSPECT) suspects.push({ chance: together, start: startBefore, end })
    }
    const spare = sumsBefore
    sumsBefore = sums
    sums = spare
    countBefore = to - from
    startBefore = start
    from = to
  }
  return best
}

/**
 * The rows of some features, added up into `sums`: four classes at a time, whose whole numbers stay in registers. What
 * is read beyond a row is thrown away.
 */
function sumUp({ rows, bias }: Model, slots: Int32Array, from: number, to: number, sums: Float64Array): void {
  const classes = bias.length
  for (let place = 0; place < classes; place += 4) {
    let [a, b, c, d] = [0, 0, 0, 0]
    for (let at = from; at < to; at++) {
      const cell = slots[at]! * classes + place
      a = (a + rows[cell]!) | 0
      b = (b + rows[cell + 1]!) | 0
      c = (c + rows[cell + 2]!) | 0
      d = (d + rows[cell + 3]!) | 0
    }
    sums[place] = a
    sums[place + 1] = b
    sums[place + 2] = c
    sums[place + 3] = d
  }
}

/**
 * How likely each class is, into `chances`; returns how likely it is that none of the ordinary is meant, which is
 * also put in the place of that class. Nothing is learned from these, so the machine's own exponential will do.
 */
function setChances(
  { bias, scale, sharpness }: Model,
  sums: Float64Array,
  count: number,
  chances: Float64Array,
): number {
  const weight = weightOf(count) * scale
  let most = -Infinity
  for (let place = 0; place < sums.length; place++) {
    const score = (sums[place]! * weight + bias[place]!) * sharpness
    chances[place] = score
    if (score > most) most = score
  }
  let all = 0
  for (let place = 0; place < sums.length; place++) {
    const part = Math.exp(chances[place]! - most)
    chances[place] = part
    all += part
  }
  for (let place = 0; place < sums.length; place++) chances[place] = chances[place]! / all
  chances[0] = 1 - chances[0]!
  return chances[0]!
}

function raise(best: Likely[], chances: Float64Array, start: number, end: number): void {
  for (let place = 0; place < chances.length; place++) {
    const chance = chances[place]!
    if (chance > best[place]!.chance) best[place] = { chance, start, end }
  }
}
