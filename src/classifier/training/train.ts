/**
 * Trains the local model on the labelled prompts beside this file. Run by hand, never at start. `--check` writes
 * nothing and exits 1 when the committed model differs from what the prompts give.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Example,
  type Labelled,
  learn,
  type Model,
  packModel,
  readCorpus,
  rounded,
  scoresOf,
  sharpnessFor,
} from '../../text'
import { featuresOf } from '../features'
import { MODEL_FILE, SHAPE } from '../model'
import { TEXT_MODES, type TextMode } from '../modes'

const corpus = readCorpus(join(import.meta.dir, 'corpus'), TEXT_MODES)
const calibration = readCorpus(join(import.meta.dir, 'calibration'), TEXT_MODES)
const made = packModel(calibrated(rounded(learn(corpus.map(exampleOf), SHAPE))))

if (!process.argv.includes('--check')) {
  writeFileSync(MODEL_FILE, made)
  const lines = new Set(corpus.map(({ line }) => line)).size
  process.stdout.write(`${made.length} bytes from ${corpus.length} prompts in ${lines} lines\n`)
} else if (!existsSync(MODEL_FILE) || !readFileSync(MODEL_FILE).equals(made)) {
  process.stderr.write('src/classifier/model.bin is not what the labelled prompts give. Run: bun run train\n')
  process.exit(1)
}

function exampleOf({ text, label }: Labelled<TextMode>): Example {
  return { features: featuresOf(text), target: TEXT_MODES.indexOf(label) }
}

function calibrated(model: Model): Model {
  const held = calibration.map(exampleOf).map(({ features, target }) => ({ scores: scoresOf(model, features), target }))
  return { ...model, sharpness: sharpnessFor(held) }
}
