/**
 * Makes the local model from the labelled prompts beside it. Run by hand, never at start. `--check` writes
 * nothing and exits 1 when the committed file is not what the prompts give.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { featuresOf } from '../features'
import { MODEL_FILE, type Model, packModel, scoresOf } from '../model'
import { TEXT_MODES } from '../modes'
import { sharpnessFor } from './calibrate'
import { type Labelled, readCorpus } from './corpus'
import { type Example, learn, type Weights } from './learn'

const corpus = readCorpus(join(import.meta.dir, 'corpus'))
const calibration = readCorpus(join(import.meta.dir, 'calibration'))
const made = packModel(calibrated(rounded(learn(corpus.map(exampleOf)))))

if (!process.argv.includes('--check')) {
  writeFileSync(MODEL_FILE, made)
  const lines = new Set(corpus.map(({ line }) => line)).size
  process.stdout.write(`${made.length} bytes from ${corpus.length} prompts in ${lines} lines\n`)
} else if (!existsSync(MODEL_FILE) || !readFileSync(MODEL_FILE).equals(made)) {
  process.stderr.write('src/classifier/model.bin is not what the labelled prompts give. Run: bun run train\n')
  process.exit(1)
}

function exampleOf({ text, mode }: Labelled): Example {
  return { features: featuresOf(text), target: TEXT_MODES.indexOf(mode) }
}

/** Weights as whole numbers from -127 to 127: a quarter of the size and no worse. */
function rounded({ slots, bias }: Weights): Model {
  const most = slots.reduce((top, weight) => Math.max(top, Math.abs(weight)), 0)
  const scale = most / 127
  return { rows: Int8Array.from(slots, (weight) => Math.round(weight / scale)), bias, scale, sharpness: 1 }
}

function calibrated(model: Model): Model {
  const held = calibration.map(exampleOf).map(({ features, target }) => ({ scores: scoresOf(model, features), target }))
  return { ...model, sharpness: sharpnessFor(held) }
}
