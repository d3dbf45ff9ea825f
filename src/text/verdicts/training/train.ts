/**
 * Trains the local models from the labelled texts in this folder. Run by hand, never at start. With `--check` it
 * writes nothing and exits 1 when a committed model differs from what the texts give.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Labelled, readCorpus } from '../../model/corpus'
import { type Example, learn, rounded } from '../../model/learn'
import { packModel, scoresOf } from '../../model/model'
import { reading } from '../../reading'
import { featuresOf, SLOTS } from '../features'
import { LABELS, type ModelName, modelFile } from '../models'
import { calibrated } from './calibrate'

/** Cross-validation: each part is scored by a model that learned from the others. */
const FOLDS = 3
/** How many variants are made of a line with choices. */
const MIXES = 4

/** The share of held-out ordinary texts that may be false alarms; half of those texts are written to look suspicious. */
const MOST_ALARMS: Record<ModelName, number> = { attacks: 0.01, safety: 0.025 }

/** Everyday prompts, and harmless texts that look like attacks. */
const ordinary = [
  ...readCorpus<string>(join(import.meta.dir, '../../../classifier/training/corpus'), null),
  ...readCorpus<string>(join(import.meta.dir, 'ordinary'), null, MIXES),
].map((one) => ({ ...one, label: LABELS.attacks[0] }))

for (const name of Object.keys(LABELS) as ModelName[]) {
  const { file, made, told } = train(name)
  if (!process.argv.includes('--check')) {
    writeFileSync(file, made)
    process.stdout.write(`${told}\n`)
  } else if (!existsSync(file) || !readFileSync(file).equals(made)) {
    process.stderr.write(`${file} is not what the labelled texts give. Run: bun run train\n`)
    process.exitCode = 1
  }
}

function train(name: ModelName): { file: string; made: Buffer; told: string } {
  const labels: readonly string[] = LABELS[name]
  const shape = { slots: SLOTS, classes: labels.length }
  const corpus = [...readCorpus(join(import.meta.dir, name), labels, MIXES), ...ordinary]
  const exampleOf = ({ text, label }: Labelled<string>): Example => ({
    features: featuresOf(reading(text).text),
    target: labels.indexOf(label),
  })
  const scored = Array.from({ length: FOLDS }, (_, fold) => {
    const isHeld = ({ line }: Labelled<string>) => line % FOLDS === fold
    const trial = rounded(learn(corpus.filter((one) => !isHeld(one)).map(exampleOf), shape))
    return corpus
      .filter(isHeld)
      .map(exampleOf)
      .map(({ features, target }) => ({ scores: scoresOf(trial, features), target }))
  }).flat()
  // Calibrated on held-out scores; the final model learns from everything.
  const made = packModel(calibrated(rounded(learn(corpus.map(exampleOf), shape)), scored, MOST_ALARMS[name]))
  return { file: modelFile(name), made, told: `${name}: ${made.length} bytes from ${corpus.length} texts` }
}
