import { createClassifier } from '../../../src/routing'
import { TEXT_MODES, type TextMode } from '../../../src/routing/classifier'
import { type Labelled as LabelledText, readCorpus } from '../../../src/training/corpus'
import { ownTime } from '../../support/effort'

type Labelled = LabelledText<TextMode>

/** One prompt as the classifier took it. `confidence` is of `mode`, also where the floor then said `fast`. */
export type Outcome = Labelled & { got: string; confidence: number; decided: string; promoted: boolean }

/** One bar of the reliability diagram: how sure answers were, and how many were right. */
export type Bar = { from: number; count: number; confidence: number; right: number }

const BARS = 10

export const heldOut = (): Labelled[] => readCorpus('tests/routing/classifier/held-out', TEXT_MODES)

/** Every prompt through the stages that need no engine. */
export function outcomesOf(prompts: readonly Labelled[]): Outcome[] {
  const { decide, local } = createClassifier()
  return prompts.map((prompt) => {
    const { mode, source, confidence } = decide({ mode: 'auto', prompt: prompt.text, hasImages: false })
    const promoted = source !== 'default'
    const likely = promoted ? { mode, confidence: confidence ?? 1 } : local(prompt.text)
    return { ...prompt, got: likely.mode, confidence: likely.confidence, decided: mode, promoted }
  })
}

export const share = <T>(all: readonly T[], is: (one: T) => boolean): number => all.filter(is).length / all.length

/** What was said of a prompt, and how sure. */
type Message = Pick<Outcome, 'got' | 'label' | 'confidence'>

export const right = ({ got, label }: Message): boolean => got === label

export function reliability(outcomes: readonly Message[]): Bar[] {
  return Array.from({ length: BARS }, (_, place) => {
    const within = outcomes.filter(({ confidence }) => Math.min(BARS - 1, Math.floor(confidence * BARS)) === place)
    const mean = within.reduce((sum, { confidence }) => sum + confidence, 0) / within.length
    return { from: place / BARS, count: within.length, confidence: mean, right: share(within, right) }
  }).filter(({ count }) => count > 0)
}

/** Expected calibration error: the distance between sure and right, weighted by how many answers a bar holds. */
export function calibrationError(outcomes: readonly Message[]): number {
  return reliability(outcomes).reduce(
    (sum, { count, confidence, right: hits }) => sum + (count / outcomes.length) * Math.abs(confidence - hits),
    0,
  )
}

/** Milliseconds of one classification, the slowest but 1 % of the prompts; each at its best of `tries`. */
export function slowestPercentile(prompts: readonly Labelled[], tries = 9): number {
  const { decide } = createClassifier()
  const best = prompts.map(() => Number.POSITIVE_INFINITY)
  for (let round = 0; round < tries; round++) {
    for (const [place, { text }] of prompts.entries()) {
      const began = ownTime()
      decide({ mode: 'auto', prompt: text, hasImages: false })
      best[place] = Math.min(best[place]!, ownTime() - began)
    }
  }
  return best.sort((a, b) => a - b)[Math.floor(best.length * 0.99)]!
}
