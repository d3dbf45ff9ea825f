import { readFileSync } from 'node:fs'

/** The shared result of a search without matches, because most searches have none. */
const NONE: RegExpExecArray[] = []

/** The features of a text: `weights[i]` belongs to feature number `slots[i]`. */
export type Features = { slots: Uint32Array; weights: Float64Array }

/** The number of features, a power of two, and of classes. A feature number is taken modulo the first. */
export type Shape = { slots: number; classes: number }

/** A linear model: a weight for each feature and class. */
export type Model = {
  /** Weights in units of `scale`: one row per slot, one number per class. */
  rows: Int8Array
  bias: Float64Array
  scale: number
  /** Factor on scores that makes confidence match the share of correct answers (temperature scaling). */
  sharpness: number
}

/** Reads a trained model. Throws Error if the file is missing or has the wrong size: the installation is broken. */
export function readModel(file: string, shape: Shape): Model {
  const bytes = readFileSync(file)
  const head = (shape.classes + 2) * 8
  const cells = shape.slots * shape.classes
  if (bytes.length !== head + cells) throw new Error(`${file} is not whole: ${bytes.length} bytes`)
  const numbers = Array.from({ length: shape.classes + 2 }, (_, index) => bytes.readDoubleLE(index * 8))
  const [scale = 0, sharpness = 0, ...bias] = numbers
  const rows = new Int8Array(bytes.buffer, bytes.byteOffset + head, cells)
  return { rows, bias: Float64Array.from(bias), scale, sharpness }
}

/** The file {@link readModel} reads: scale, sharpness and bias as little-endian doubles, then the rows. */
export function packModel({ rows, bias, scale, sharpness }: Model): Buffer {
  const head = Buffer.alloc((bias.length + 2) * 8)
  for (const [index, number] of [scale, sharpness, ...bias].entries()) head.writeDoubleLE(number, index * 8)
  return Buffer.concat([head, new Uint8Array(rows.buffer, rows.byteOffset, rows.length)])
}

/** The bit mask that maps feature numbers to the slots of a smaller model. */
export const maskOf = ({ rows, bias }: Pick<Model, 'rows' | 'bias'>): number => rows.length / bias.length - 1

/** Scores by class, not yet multiplied by `sharpness`. */
export function scoresOf({ rows, bias, scale }: Model, { slots, weights }: Features): Float64Array {
  const classes = bias.length
  const scores = new Float64Array(classes)
  const mask = maskOf({ rows, bias })
  for (let at = 0; at < slots.length; at++) {
    const row = (slots[at]! & mask) * classes
    const weight = weights[at]!
    for (let index = 0; index < classes; index++) scores[index] = scores[index]! + weight * rows[row + index]!
  }
  return scores.map((score, index) => score * scale + bias[index]!)
}

/** Converts scores to probabilities that sum to one, in place. Returns `scores`. */
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
 * `Math.exp` for numbers up to zero, from basic arithmetic only. Gives the same bits on every machine, which `Math.exp`
 * does not guarantee and the check of the model file needs.
 */
function exp(power: number): number {
  if (power < -700) return 0
  const halvings = Math.round(power / Math.LN2)
  const rest = power - halvings * Math.LN2
  let sum = 1
  for (let term = 14; term > 0; term--) sum = 1 + (sum * rest) / term
  return sum * 2 ** halvings
}

/**
 * Every match of an expression with the flag `g`, from offset `from` on. Unlike `matchAll` it does not copy the
 * expression, which costs several times as much as most searches.
 */
export function matchesOf(expression: RegExp, text: string, from = 0): readonly RegExpExecArray[] {
  let found = NONE
  expression.lastIndex = from
  for (let match = expression.exec(text); match; match = expression.exec(text)) {
    if (found === NONE) found = []
    found.push(match)
    if (match[0] === '') expression.lastIndex++
  }
  return found
}
