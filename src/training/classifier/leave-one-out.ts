import { join } from 'node:path'
import { type Calibration, likeliest, oddsOf, SHAPE, TEXT_MODES, type TextMode } from '../../routing/classifier'
import {
  type Example,
  type Labelled,
  learn,
  type Model,
  promptFeaturesOf,
  readCorpus,
  readWriters,
  rounded,
  type Written,
} from '../../text'

type Prompt = Written<TextMode>

/** A prompt as a model took it that was trained without any prompt of its writer. */
export type LeftOut = Prompt & { got: TextMode; chance: number }

/** Prompts of the project's own hand. They teach, and no figure is taken from them. */
export const unnamedPrompts = (): Labelled<TextMode>[] =>
  ['corpus', 'calibration'].flatMap((folder) => readCorpus(join(import.meta.dir, folder), TEXT_MODES))

/** Prompts of writers who saw nobody else's. */
export const writersPrompts = (): Prompt[] => readWriters(join(import.meta.dir, 'writers'), TEXT_MODES)

const exampleOf = ({ text, label }: Labelled<TextMode>): Example => ({
  features: promptFeaturesOf(text),
  target: TEXT_MODES.indexOf(label),
})

/** The model that these prompts give: weights only, its own chances as they come. */
export const trained = (prompts: readonly Labelled<TextMode>[]): Model => rounded(learn(prompts.map(exampleOf), SHAPE))

/** Every prompt of every writer, through a model of all the others and of the prompts of no named writer. */
export const leaveEachOut = (prompts: readonly Prompt[], unnamed: readonly Labelled<TextMode>[]): LeftOut[] =>
  writersOf(prompts).flatMap((writer) => leaveOut(prompts, unnamed, [writer]))

/** The prompts of some writers, through a model of the first `most` others and of the prompts of no named writer. */
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
/** As many prompts as this pull a mode towards the line of all modes. */
const PULL = 20

/** For each mode that was said, the line over the odds that makes the confidence the share of right answers. */
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

/** Logistic regression of being right on the odds, by plain descent from `start`, which pulls with `pull` prompts. */
function fitted(outcomes: readonly LeftOut[], start: { slope: number; offset: number }, pull: number) {
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
