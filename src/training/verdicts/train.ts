/**
 * Trains the local models from the labelled texts in this folder. Run by hand, never at start. With `--check` it writes
 * nothing and exits 1 when a committed model differs from the result.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Model, packModel, scoresOf } from '../../text/model'
import { type ModelName, modelFile, shapeOf } from '../../text/verdicts/models'
import { learn, rounded, type Scored } from '../learn'
import { calibrated } from './calibrate'
import { factsOf, fittedWeights } from './fit-weights'
import { type Judged, judgedBy, learnWith, writersOf, writtenTexts } from './learn-attacks'
import { exampleOf, linesOf } from './lines'

/** Cross-validation: each part is scored by a model trained on the others. */
const FOLDS = 3

/** Maximum share of false alarms among held-out ordinary lines. Half of these lines are written to look suspicious. */
const MAX_ALARMS = { attacks: 0.01, wishes: 0.02, safety: 0.025 }
const BY_LINES = ['wishes', 'safety'] as const

const made: [file: string, bytes: Buffer][] = [...attacks(), ...BY_LINES.map(byLines)]
for (const [file, bytes] of made) {
  if (!process.argv.includes('--check')) {
    writeFileSync(file, bytes)
    process.stdout.write(`${file}: ${bytes.length} bytes\n`)
  } else if (!existsSync(file) || !readFileSync(file).equals(bytes)) {
    process.stderr.write(`${file} is not what the labelled texts give. Run: bun run make models\n`)
    process.exitCode = 1
  }
}

function byLines(name: (typeof BY_LINES)[number]): [string, Buffer] {
  const lines = linesOf(name)
  const learnt = (some: typeof lines): Model =>
    rounded(
      learn(
        some.map((one) => exampleOf(name, one)),
        shapeOf(name),
      ),
    )
  const held = folds((fold) => {
    const trial = learnt(lines.filter(({ line }) => line % FOLDS !== fold))
    return scoredBy(name, trial, fold)
  })
  // Calibrated on held-out scores. The final model is trained on everything.
  return [modelFile(name), packModel(calibrated(learnt(lines), held, MAX_ALARMS[name]))]
}

/** Three models and the weights of their findings. Held out are lines, and a third of the writers. */
function attacks(): [string, Buffer][] {
  const lines = linesOf('attacks')
  const written = writtenTexts()
  const writers = writersOf(written)
  const held = folds((fold): { lines: Scored[]; texts: Judged[] }[] => {
    const isHeld = ({ writer }: { writer: string }) => writers.indexOf(writer) % FOLDS === fold
    const trial = learnWith(
      lines.filter(({ line }) => line % FOLDS !== fold),
      written.filter((one) => !isHeld(one)),
    )
    const texts = written.filter(isHeld).map((one) => judgedBy(trial, one))
    return [{ lines: scoredBy('attacks', trial.stretches, fold), texts }]
  })
  const { stretches, texts, ends } = learnWith(lines, written)
  const model = calibrated(
    stretches,
    held.flatMap((one) => one.lines),
    MAX_ALARMS.attacks,
  )
  const facts = factsOf(
    held.flatMap((one) => one.texts),
    model,
    stretches,
  )
  const weights = `${JSON.stringify(fittedWeights(facts), null, 2)}\n`
  return [
    [modelFile('attacks'), packModel(model)],
    [modelFile('texts'), packModel(texts)],
    [modelFile('ends'), packModel(ends)],
    [join(import.meta.dir, '../../text/verdicts/weights.json'), Buffer.from(weights)],
  ]
}

function folds<Out>(run: (fold: number) => Out[]): Out[] {
  return Array.from({ length: FOLDS }, (_, fold) => run(fold)).flat()
}

/** The held-out lines of a fold, scored by a model trained on the others. */
function scoredBy(name: ModelName, model: Model, fold: number): Scored[] {
  return linesOf(name)
    .filter(({ line }) => line % FOLDS === fold)
    .map((one) => exampleOf(name, one))
    .map(({ features, target }) => ({ scores: scoresOf(model, features), target }))
}
