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
  const lists = packedOf(model)
  const width = lists.length * ABREAST
  const all = sumsOf(lists, sentences)
  const best = Array.from({ length: classes }, (): Likely => ({ chance: 0, start: 0, end: 0 }))
  const chances = new Float64Array(classes)
  const sums = new Float64Array(classes)
  let [from, countBefore, startBefore] = [0, -1, 0]
  for (let at = 0; at < sentences.count; at++) {
    const start = sentences.starts[at]!
    const end = sentences.ends[at]!
    const count = sentences.slotsEnd[at]! - from
    for (let place = 0; place < classes; place++) sums[place] = all[at * width + place]!
    const alone = setChances(model, sums, count, chances)
    if (sentences.tokens[at]! >= LEAST_TOKENS) raise(best, chances, start, end)
    if (alone >= LEAST_SUSPECT) suspects.push({ chance: alone, start, end })
    if (countBefore >= 0) {
      for (let place = 0; place < classes; place++) sums[place]! += all[(at - 1) * width + place]!
      const together = setChances(model, sums, count + countBefore, chances)
      raise(best, chances, startBefore, end)
      if (together >= LEAST_SUSPECT) suspects.push({ chance: together, start: startBefore, end })
    }
    from += count
    countBefore = count
    startBefore = start
  }
  return best
}

/** Classes side by side in one number of 32 bits. */
const ABREAST = 4
/** Added to every weight, so that none is less than nothing and takes from the one beside it. */
const LIFT = 128
/** Every other of the four, with room for the sum of all features of a sentence: 48 words of 6, each at most 255. */
const EVERY_OTHER = 0xff00ff
const MOST_SUM = 0xffff

const packed = new WeakMap<Model, readonly Int32Array[]>()

/** The rows of a model, four classes a list: one look a feature for all of them. */
const packedOf = (model: Model): readonly Int32Array[] => packed.getOrInsertComputed(model, pack)

function pack({ rows, bias }: Model): Int32Array[] {
  const classes = bias.length
  return Array.from({ length: Math.ceil(classes / ABREAST) }, (_, list) => {
    const cells = new Int32Array(rows.length / classes)
    for (let cell = 0; cell < rows.length; cell++) {
      const place = (cell % classes) - list * ABREAST
      if (place >= 0 && place < ABREAST) cells[Math.floor(cell / classes)]! |= (rows[cell]! + LIFT) << (8 * place)
    }
    return cells
  })
}

/** Room for sums, kept from text to text. */
let room = new Float64Array(1 << 10)

/**
 * For each sentence the rows of its features, added up: as many numbers a sentence as lists hold classes. In a loop
 * by itself, for sums that leave the processor's registers take three times as long.
 */
function sumsOf(lists: readonly Int32Array[], { slots, slotsEnd, count }: Sentences): Float64Array {
  const width = lists.length * ABREAST
  if (count * width > room.length) room = new Float64Array(count * width)
  const sums = room
  for (let list = 0; list < lists.length; list++) {
    const cells = lists[list]!
    let at = 0
    for (let sentence = 0; sentence < count; sentence++) {
      const lift = LIFT * (slotsEnd[sentence]! - at)
      let even = 0
      let odd = 0
      for (; at < slotsEnd[sentence]!; at++) {
        const cell = cells[slots[at]!]!
        even = (even + (cell & EVERY_OTHER)) | 0
        odd = (odd + ((cell >>> 8) & EVERY_OTHER)) | 0
      }
      const place = sentence * width + list * ABREAST
      sums[place] = (even & MOST_SUM) - lift
      sums[place + 1] = (odd & MOST_SUM) - lift
      sums[place + 2] = (even >>> 16) - lift
      sums[place + 3] = (odd >>> 16) - lift
    }
  }
  return sums
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
  for (let place = 0; place < chances.length; place++) {
    const score = (sums[place]! * weight + bias[place]!) * sharpness
    chances[place] = score
    if (score > most) most = score
  }
  let all = 0
  for (let place = 0; place < chances.length; place++) {
    const part = Math.exp(chances[place]! - most)
    chances[place] = part
    all += part
  }
  for (let place = 0; place < chances.length; place++) chances[place] = chances[place]! / all
  chances[0] = 1 - chances[0]!
  return chances[0]!
}

function raise(best: Likely[], chances: Float64Array, start: number, end: number): void {
  for (let place = 0; place < chances.length; place++) {
    const chance = chances[place]!
    if (chance > best[place]!.chance) best[place] = { chance, start, end }
  }
}
