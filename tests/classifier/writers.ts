import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { featuresOf } from '../../src/classifier/features'
import { SHAPE } from '../../src/classifier/model'
import { TEXT_MODES, type TextMode } from '../../src/classifier/modes'
import { type Labelled, learn, type Model, readCorpus, rounded, scoresOf, softmax } from '../../src/text'

type Prompt = Labelled<TextMode> & { writer: string }

/** A prompt as a model took it that was trained without any prompt of its writer. */
export type LeftOut = Prompt & { got: TextMode; chance: number }

/** For each mode that is said, the line over the logarithm of the odds that makes a chance the share of right answers. */
type Calibration = Record<string, Line>
type Line = { slope: number; offset: number }

const TRAINING = 'src/classifier/training'

/** Prompts of the project's own hand. They teach, and no figure is taken from them. */
export const unnamedPrompts = (): Labelled<TextMode>[] =>
  ['corpus', 'calibration'].flatMap((folder) => readCorpus(join(TRAINING, folder), TEXT_MODES))

/** Prompts of writers who saw nobody else's: one file for each, a JSON object a line. */
export function writersPrompts(): Prompt[] {
  const folder = join(TRAINING, 'writers')
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  return files.sort().flatMap((name) => {
    const rows = readFileSync(join(folder, name), 'utf8').trim().split('\n')
    return rows.map((row, line) => {
      const { text, label, lang, hard } = JSON.parse(row) as Prompt & { lang: string }
      return { text, label, language: lang, hard, line, writer: name.replace('.jsonl', '') }
    })
  })
}

export const writersOf = (prompts: readonly Prompt[]): string[] => [...new Set(prompts.map(({ writer }) => writer))]

/** Every prompt of every writer, through a model of all the others and of the prompts of no named writer. */
export function leaveEachOut(prompts: readonly Prompt[], unnamed: readonly Labelled<TextMode>[]): LeftOut[] {
  return writersOf(prompts).flatMap((writer) => {
    const others = [...unnamed, ...prompts.filter((one) => one.writer !== writer)]
    const examples = others.map(({ text, label }) => ({
      features: featuresOf(text),
      target: TEXT_MODES.indexOf(label),
    }))
    const model = rounded(learn(examples, SHAPE))
    return prompts.filter((one) => one.writer === writer).map((one) => ({ ...one, ...likeliest(model, one.text) }))
  })
}

function likeliest(model: Model, text: string): { got: TextMode; chance: number } {
  const chances = softmax(scoresOf(model, featuresOf(text)))
  const chance = Math.max(...chances)
  return { got: TEXT_MODES[chances.indexOf(chance)]!, chance }
}

const STEPS = 400
const RATE = 0.5
/** As many prompts as this pull a mode towards the line of all modes. */
const PULL = 20

export function calibrationOf(outcomes: readonly LeftOut[]): Calibration {
  const common = fitted(outcomes, { slope: 1, offset: 0 }, 0)
  return Object.fromEntries(
    TEXT_MODES.map((mode) => {
      const said = outcomes.filter(({ got }) => got === mode)
      return [mode, fitted(said, common, PULL)]
    }),
  )
}

/** A chance as calibrated. */
export const confidenceOf = (chance: number, { slope, offset }: Line): number =>
  1 / (1 + Math.exp(-(slope * oddsOf(chance) + offset)))

const oddsOf = (chance: number): number => Math.log(chance / Math.max(1e-9, 1 - chance))

/** Logistic regression of being right on the odds, by plain descent from `start`, which pulls with `pull` prompts. */
function fitted(outcomes: readonly LeftOut[], start: Line, pull: number): Line {
  let { slope, offset } = start
  const rows = outcomes.map(({ got, label, chance }) => ({
    odds: Math.min(8, oddsOf(chance)),
    hit: got === label ? 1 : 0,
  }))
  for (let step = 0; step < STEPS; step++) {
    let bySlope = pull * (slope - start.slope)
    let byOffset = pull * (offset - start.offset)
    for (const { odds, hit } of rows) {
      const error = 1 / (1 + Math.exp(-(slope * odds + offset))) - hit
      bySlope += error * odds
      byOffset += error
    }
    const weight = rows.length + pull || 1
    slope -= (RATE * bySlope) / weight
    offset -= (RATE * byOffset) / weight
  }
  return { slope, offset }
}
