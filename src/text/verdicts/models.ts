import { join } from 'node:path'
import { type Model, readModel } from '../model/model'
import { SLOTS } from './features'

/** The classes of each local model, in the order of its file; the first is for ordinary texts. */
export const LABELS = {
  attacks: ['clean', 'injection', 'jailbreak'],
  /** Texts as a whole; learned from those of writers only. */
  texts: ['honest', 'attack'],
  /** What a prompt wants of an assistant that is against whoever it serves. */
  wishes: ['clean', 'wish'],
  safety: ['clean', 'hate', 'harassment', 'violence', 'sexual', 'self_harm', 'illicit'],
} as const

export type ModelName = keyof typeof LABELS

export const modelFile = (name: ModelName): string => join(import.meta.dir, 'training', `${name}.bin`)

const read = new Map<ModelName, Model>()

/** Read from its file with the first policy that needs it. Throws Error when the installation is broken. */
export function modelOf(name: ModelName): Model {
  const known = read.get(name)
  if (known) return known
  const model = readModel(modelFile(name), { slots: SLOTS, classes: LABELS[name].length })
  read.set(name, model)
  return model
}

/** Reads a model ahead of the first text, so that a broken installation shows where a policy is compiled. */
export const loadModel = (name: ModelName): void => void modelOf(name)
