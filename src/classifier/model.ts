import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Features, featuresOf, SLOTS } from './features'
import { TEXT_MODES, type TextMode } from './modes'
import { softmax } from './softmax'

/** What a text most likely wants, and how often such an answer is right. */
export type Guess = { mode: TextMode; confidence: number }

export type Model = {
  /** Scores in steps of `scale`: one row a slot, one number a mode. */
  rows: Int8Array
  bias: Float64Array
  scale: number
  /** Multiplies scores so that confidence is the share of right answers (temperature scaling). */
  sharpness: number
}

export const MODEL_FILE = join(import.meta.dir, 'model.bin')

const MODES = TEXT_MODES.length
/** Nobody is surer of a stranger's words than this; it is also the highest floor (contract 13). */
const SUREST = 0.99
const HEAD_BYTES = (MODES + 2) * 8

/** The trained model. Throws Error when the file is missing or of another size: then the installation is broken. */
export function loadModel(): Model {
  const bytes = readFileSync(MODEL_FILE)
  if (bytes.length !== HEAD_BYTES + SLOTS * MODES) throw new Error(`${MODEL_FILE} is not whole: ${bytes.length} bytes`)
  const head = Array.from({ length: MODES + 2 }, (_, place) => bytes.readDoubleLE(place * 8))
  const [scale = 0, sharpness = 0, ...bias] = head
  const rows = new Int8Array(bytes.buffer, bytes.byteOffset + HEAD_BYTES, SLOTS * MODES)
  return { rows, bias: Float64Array.from(bias), scale, sharpness }
}

/** The file {@link loadModel} reads: scale, sharpness and bias as little-endian doubles, then the rows. */
export function packModel({ rows, bias, scale, sharpness }: Model): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  for (const [place, number] of [scale, sharpness, ...bias].entries()) head.writeDoubleLE(number, place * 8)
  return Buffer.concat([head, new Uint8Array(rows.buffer, rows.byteOffset, rows.length)])
}

/** Pure, and well under a millisecond whatever the text. */
export function guess(model: Model, text: string): Guess {
  const chances = softmax(scoresOf(model, featuresOf(text)).map((score) => score * model.sharpness))
  let best = 0
  for (let mode = 1; mode < MODES; mode++) if (chances[mode]! > chances[best]!) best = mode
  return { mode: TEXT_MODES[best]!, confidence: Math.min(SUREST, Math.floor(chances[best]! * 1_000) / 1_000) }
}

/** Scores by mode, before they are sharpened. */
export function scoresOf({ rows, bias, scale }: Model, { slots, weights }: Features): Float64Array {
  const scores = new Float64Array(MODES)
  for (let at = 0; at < slots.length; at++) {
    const row = slots[at]! * MODES
    const weight = weights[at]!
    for (let mode = 0; mode < MODES; mode++) scores[mode] = scores[mode]! + weight * rows[row + mode]!
  }
  return scores.map((score, mode) => score * scale + bias[mode]!)
}
