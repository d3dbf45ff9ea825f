import { join } from 'node:path'
import { type Calibration, likeliest, logOddsOf, SHAPE, TEXT_MODES, type TextMode } from '../../routing/classifier'
import { type Model, promptFeaturesOf } from '../../text'
import { type Labelled, readCorpus, readWriters, type Written } from '../corpus'
import { type Example, learn, rounded } from '../learn'

type Prompt = Written<TextMode>

/** The result of a model that was trained without any prompt of this writer. */
export type LeftOut = Prompt & { got: TextMode; chance: number }

/** Prompts written by the project itself. They are used for training only, never for measuring. */
export const unnamedPrompts = (): Labelled<TextMode>[] =>
  ['corpus', 'calibration'].flatMap((folder) => readCorpus(join(import.meta.dir, folder), TEXT_MODES))

/** Prompts by writers who did not see each other's prompts. */
export const writersPrompts = (): Prompt[] => readWriters(join(import.meta.dir, 'writers'), TEXT_MODES)

const exampleOf = ({ text, label }: Labelled<TextMode>): Example => ({
  features: promptFeaturesOf(text),
  target: TEXT_MODES.indexOf(label),
})

/** The model trained on these prompts: weights only, with uncalibrated probabilities. */
export const trained = (prompts: readonly Labelled<TextMode>[]): Model => rounded(learn(prompts.map(exampleOf), SHAPE))

/** Classifies each writer's prompts by a model trained on all other writers and the unnamed prompts. */
export const leaveEachOut = (prompts: readonly Prompt[], unnamed: readonly Labelled<TextMode>[]): LeftOut[] =>
  writersOf(prompts).flatMap((writer) => leaveOut(prompts, unnamed, [writer]))

/** Classifies prompts of some writers by a model trained on the first `max` other writers and the unnamed prompts. */
export function leaveOut(
  prompts: readonly Prompt[],
  unnamed: readonly Labelled<TextMode>[],
  left: readonly string[],
  max = Number.POSITIVE_INFINITY,
): LeftOut[] {
  const others = writersOf(prompts)
    .filter((one) => !left.includes(one))
    .slice(0, max)
  const model = trained([...unnamed, ...prompts.filter(({ writer }) => others.includes(writer))])
  return prompts
    .filter(({ writer }) => left.includes(writer))
    .map((one) => {
      const { mode, chance } = likeliest(model, one.text)
      return { ...one, got: mode, chance }
    })
}

export const writersOf = (prompts: readonly Prompt[]): string[] => [...new Set(prompts.map(({ writer }) => writer))]

const STEPS = 400
const RATE = 0.5
/** Regularisation weight, in prompts, that pulls the line of a mode towards the line of all modes. */
const PULL = 20

/** Fits a line over the odds for each predicted mode, so that the confidence equals the share of correct answers. */
export function calibrationOf(outcomes: readonly LeftOut[]): Calibration {
  const common = fitted(outcomes, { slope: 1, offset: 0 }, 0)
  return Object.fromEntries(
    TEXT_MODES.map((mode) => {
      const { slope, offset } = fitted(
        outcomes.filter(({ got }) => got === mode),
        common,
        PULL,
      )
      return [mode, { slope: Number(slope.toFixed(3)), offset: Number(offset.toFixed(3)) }]
    }),
  )
}

/** Logistic regression of correctness on the odds, by gradient descent from `start`, whose weight is `pull`. */
function fitted(outcomes: readonly LeftOut[], start: { slope: number; offset: number }, pull: number) {
  let { slope, offset } = start
  const rows = outcomes.map(({ got, label, chance }) => ({
    odds: Math.min(8, logOddsOf(chance)),
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
