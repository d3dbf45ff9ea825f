import { type Model, maskOf } from '../model'
import { type Sentences, weightOf } from './features'

/** A stretch of a text, and the probability of its class. */
export type Likely = { chance: number; start: number; end: number }

/** A sentence with fewer words says too little by itself. */
export const MIN_TOKENS = 3
/** Probability of not being ordinary from which a stretch is a suspect. A finding needs 0.8 by default. */
const MIN_SUSPECT = 0.5

/**
 * The most probable stretch for each class of a model. For class 0, ordinary texts, the stretch least likely to be
 * ordinary. Reads every sentence alone and together with the previous one, because attacks hide between ordinary
 * sentences. Adds stretches that may not be ordinary to `suspects`, in text order.
 */
export function likeliest(model: Model, sentences: Sentences, suspects: Likely[] = []): Likely[] {
  const classes = model.bias.length
  // The weights of a model, four classes per number, so that one lookup per feature serves all four.
  const columns = packed.getOrInsertComputed(model, pack)
  const width = columns.length * PACKED_CLASSES
  const all = sumsOf(columns, sentences, maskOf(model))
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
    if (sentences.tokens[at]! >= MIN_TOKENS) keepLikeliest(best, chances, start, end)
    if (alone >= MIN_SUSPECT) suspects.push({ chance: alone, start, end })
    if (countBefore >= 0) {
      for (let place = 0; place < classes; place++) sums[place]! += all[(at - 1) * width + place]!
      const paired = setChances(model, sums, count + countBefore, chances)
      keepLikeliest(best, chances, startBefore, end)
      if (paired >= MIN_SUSPECT) suspects.push({ chance: paired, start: startBefore, end })
    }
    from += count
    countBefore = count
    startBefore = start
  }
  return best
}

/** Number of classes whose weights share a 32-bit number. */
const PACKED_CLASSES = 4
/** Added to every weight, so that none is negative and borrows from the adjacent one. */
const LIFT = 128
/** Two of the four bytes, with 16 bits for each sum. 48 words with 5 features each, of at most 255, make 61,200. */
const EVEN_BYTES = 0xff00ff
const LOW_HALF = 0xffff

const packed = new WeakMap<Model, readonly Int32Array[]>()

function pack({ rows, bias }: Model): Int32Array[] {
  const classes = bias.length
  return Array.from({ length: Math.ceil(classes / PACKED_CLASSES) }, (_, column) => {
    const cells = new Int32Array(rows.length / classes)
    for (let cell = 0; cell < rows.length; cell++) {
      const place = (cell % classes) - column * PACKED_CLASSES
      if (place >= 0 && place < PACKED_CLASSES)
        cells[Math.floor(cell / classes)]! |= (rows[cell]! + LIFT) << (8 * place)
    }
    return cells
  })
}

/** Scratch buffer for sums, reused between texts. */
let room = new Float64Array(1 << 10)

/**
 * The sum of each sentence's feature weights, by class. In a separate loop, because sums that leave the processor's
 * registers take three times as long.
 */
function sumsOf(columns: readonly Int32Array[], { slots, slotsEnd, count }: Sentences, mask: number): Float64Array {
  const width = columns.length * PACKED_CLASSES
  if (count * width > room.length) room = new Float64Array(count * width)
  const sums = room
  for (let column = 0; column < columns.length; column++) {
    const cells = columns[column]!
    let at = 0
    for (let sentence = 0; sentence < count; sentence++) {
      const lift = LIFT * (slotsEnd[sentence]! - at)
      let even = 0
      let odd = 0
      for (; at < slotsEnd[sentence]!; at++) {
        const cell = cells[slots[at]! & mask]!
        even = (even + (cell & EVEN_BYTES)) | 0
        odd = (odd + ((cell >>> 8) & EVEN_BYTES)) | 0
      }
      const place = sentence * width + column * PACKED_CLASSES
      sums[place] = (even & LOW_HALF) - lift
      sums[place + 1] = (odd & LOW_HALF) - lift
      sums[place + 2] = (even >>> 16) - lift
      sums[place + 3] = (odd >>> 16) - lift
    }
  }
  return sums
}

/**
 * Writes the probability of each class into `chances`. Class 0 gets the probability of not being ordinary, which is
 * also returned. `Math.exp` may differ in its last bits between machines, which only training must avoid.
 */
function setChances(
  { bias, scale, sharpness }: Model,
  sums: Float64Array,
  count: number,
  chances: Float64Array,
): number {
  const weight = weightOf(count) * scale
  let max = -Infinity
  for (let place = 0; place < chances.length; place++) {
    const score = (sums[place]! * weight + bias[place]!) * sharpness
    chances[place] = score
    if (score > max) max = score
  }
  let all = 0
  for (let place = 0; place < chances.length; place++) {
    const part = Math.exp(chances[place]! - max)
    chances[place] = part
    all += part
  }
  for (let place = 0; place < chances.length; place++) chances[place] = chances[place]! / all
  chances[0] = 1 - chances[0]!
  return chances[0]!
}

/** Keeps for each class the more probable of the best stretch so far and this one. */
function keepLikeliest(best: Likely[], chances: Float64Array, start: number, end: number): void {
  for (let place = 0; place < chances.length; place++) {
    const chance = chances[place]!
    if (chance > best[place]!.chance) best[place] = { chance, start, end }
  }
}
