import { join } from 'node:path'
import { type Model, readModel, type Shape } from '../model'
import { PROMPT_SLOTS } from '../model-prompt-features'
import { SLOTS } from './features'

/** The classes of each local model, in the order of its file. The first is for ordinary texts. */
export const LABELS = {
  attacks: ['clean', 'injection', 'jailbreak'],
  /** Texts as a whole. Trained on texts by writers only. */
  texts: ['honest', 'attack'],
  /** By the ends of a text and the pieces of their words, as for modes. Also trained on lines. */
  ends: ['honest', 'attack'],
  /** What a prompt asks of an assistant that is against its users. */
  wishes: ['clean', 'wish'],
  safety: ['clean', 'hate', 'harassment', 'violence', 'sexual', 'self_harm', 'illicit'],
} as const

export type ModelName = keyof typeof LABELS

/** Fewer slots are enough for models trained on few lines. Features of a text share these slots. */
const FEW_SLOTS = 1 << 16
const SLOTS_OF: Readonly<Record<ModelName, number>> = {
  attacks: SLOTS,
  texts: SLOTS,
  ends: PROMPT_SLOTS,
  wishes: FEW_SLOTS,
  safety: FEW_SLOTS,
}

export const shapeOf = (name: ModelName): Shape => ({ slots: SLOTS_OF[name], classes: LABELS[name].length })

export const modelFile = (name: ModelName): string => join(import.meta.dir, `${name}.bin`)

const read = new Map<ModelName, Model>()

/** Loaded with the first policy that needs it. Throws Error when the installation is broken. */
export function modelOf(name: ModelName): Model {
  const known = read.get(name)
  if (known) return known
  const model = readModel(modelFile(name), shapeOf(name))
  read.set(name, model)
  return model
}

/** Loads a model before the first text, so that a broken installation shows when a policy is compiled. */
export const loadModel = (name: ModelName): void => void modelOf(name)
