import { join } from 'node:path'
import { type Model, readModel, type Shape, scoresOf, softmax } from '../text'
import { featuresOf, SLOTS } from './features'
import { TEXT_MODES, type TextMode } from './modes'

/** The most likely mode of a text, and the share of such guesses that are right. */
export type Guess = { mode: TextMode; confidence: number }

export const MODEL_FILE = join(import.meta.dir, 'model.bin')
export const SHAPE: Shape = { slots: SLOTS, classes: TEXT_MODES.length }

/** Upper limit of the model's confidence; equal to the highest floor (contract 13). */
const SUREST = 0.99

/** The trained model. Throws Error when the file is missing or of another size. */
export const loadModel = (): Model => readModel(MODEL_FILE, SHAPE)

/** The model's guess for a text. Pure, and well under a millisecond for any text. */
export function guess(model: Model, text: string): Guess {
  const chances = softmax(scoresOf(model, featuresOf(text)).map((score) => score * model.sharpness))
  let best = 0
  for (let mode = 1; mode < chances.length; mode++) if (chances[mode]! > chances[best]!) best = mode
  return { mode: TEXT_MODES[best]!, confidence: Math.min(SUREST, Math.floor(chances[best]! * 1_000) / 1_000) }
}
