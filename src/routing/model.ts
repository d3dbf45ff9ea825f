import { join } from 'node:path'
import { type Model, PROMPT_SLOTS, promptFeaturesOf, readModel, type Shape, scoresOf, softmax } from '../text'
import calibration from './calibration.json'

/** Modes that a text alone can ask for; `vision` needs an image (contract 22.2). The model file uses their order. */
export const TEXT_MODES = [
  ...(['fast', 'think', 'code', 'image', 'video'] as const),
  ...(['research', 'roast', 'genui', 'data_extraction', 'domain_analysis'] as const),
]

export type TextMode = (typeof TEXT_MODES)[number]

export const isTextMode = (word: unknown): word is TextMode => TEXT_MODES.some((mode) => mode === word)

/** The most likely mode of a text, and the share of such guesses that are right. */
export type Guess = { mode: TextMode; confidence: number }

export const MODEL_FILE = join(import.meta.dir, 'model.bin')
export const SHAPE: Shape = { slots: PROMPT_SLOTS, classes: TEXT_MODES.length }

/** Upper limit of the model's confidence; equal to the highest floor (contract 13). */
const SUREST = 0.99

/**
 * How the model's own confidence becomes the share of right answers, for each mode that it says: a line over the
 * logarithm of the odds, fitted on prompts of writers whom the model had not seen. `bun run make models` writes it.
 */
export type Calibration = Readonly<Record<string, { slope: number; offset: number }>>

/** A model and its calibration; without one the model's own chances are its confidence. */
export type ModeModel = Model & { calibration?: Calibration }

/** The trained model. Throws Error when the file is missing or of another size. */
export const loadModel = (): ModeModel => ({ ...readModel(MODEL_FILE, SHAPE), calibration })

/** The model's guess for a text. Pure, and well under a millisecond for any text. */
export function guess(model: ModeModel, text: string): Guess {
  const { mode, chance } = likeliest(model, text)
  const sure = confidenceOf(chance, model.calibration?.[mode])
  return { mode, confidence: Math.min(SUREST, Math.floor(sure * 1_000) / 1_000) }
}

/** The likeliest mode, and its chance as the model itself sees it. */
export function likeliest(model: Model, text: string): { mode: TextMode; chance: number } {
  const chances = softmax(scoresOf(model, promptFeaturesOf(text)).map((score) => score * model.sharpness))
  let best = 0
  for (let mode = 1; mode < chances.length; mode++) if (chances[mode]! > chances[best]!) best = mode
  return { mode: TEXT_MODES[best]!, chance: chances[best]! }
}

/** The logarithm of the odds of a chance; a chance of one is taken for a little less. */
export const oddsOf = (chance: number): number => Math.log(chance / Math.max(1e-9, 1 - chance))

/** A chance as calibrated; without a calibration it stays. */
export const confidenceOf = (chance: number, line = { slope: 1, offset: 0 }): number =>
  1 / (1 + Math.exp(-(line.slope * oddsOf(chance) + line.offset)))
