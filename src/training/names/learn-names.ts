import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Model } from '../../text/model'
import { beginTagOf, KINDS, likeliestTags, OUTSIDE, SHAPE, TAGS } from '../../text/names/tagger'
import { featuresOf, isCapital, SLOTS, tokensOf } from '../../text/names/tokens'
import { plainly } from '../../text/plain'
import { readCorpus } from '../corpus'
import { madeAddresses } from './made-addresses'

/** A text of a writer, with each distinct value that is personal data, by kind. */
export type Marked = { text: string; spans: readonly { kind: string; value: string }[]; writer: string }

/** Texts by writers who did not see each other's texts: one file per writer, one JSON object per line. */
export function writersTexts(): Marked[] {
  const folder = join(import.meta.dir, 'writers')
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  return files.sort().flatMap((name) => {
    const rows = readFileSync(join(folder, name), 'utf8').trim().split('\n')
    return rows.map((row): Marked => ({ ...(JSON.parse(row) as Marked), writer: name.replace('.jsonl', '') }))
  })
}

type Example = { features: Int32Array[]; tags: Uint8Array }

/** Every third prompt is used, and only the start of long ones. */
const EVERY = 3
const MAX_PROMPTS = 3_000
const MAX_CHARS = 400

/** Ordinary prompts in which no capitalised word is known as a given name. They teach what is not a name. */
export function namelessPrompts(): Example[] {
  const texts = [
    ...readCorpus(join(import.meta.dir, '../classifier/corpus'), null),
    ...readCorpus(join(import.meta.dir, '../verdicts/ordinary'), null),
    ...promptsOfWriters(),
  ].map((one) => one.text)
  return texts
    .filter((_, at) => at % EVERY === 0)
    .map((text) => tokensOf(plainly(text.slice(0, MAX_CHARS)).text))
    .filter((tokens) => !tokens.some((token) => isCapital(token) && token.known & 1))
    .slice(0, MAX_PROMPTS)
    .map((tokens) => ({ features: featuresOf(tokens), tags: new Uint8Array(tokens.length) }))
}

function promptsOfWriters(): { text: string }[] {
  const folder = join(import.meta.dir, '../classifier/writers')
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  return files.sort().flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .trim()
      .split('\n')
      .map((row) => JSON.parse(row) as { text: string }),
  )
}

function exampleOf({ text: source, spans }: Marked): Example {
  const { text } = plainly(source)
  const tokens = tokensOf(text)
  const tags = new Uint8Array(tokens.length)
  for (const { kind: named, value } of spans) {
    const kind = KINDS.find((one) => one === named)
    const shown = plainly(value).text
    if (!kind || !shown) continue
    const begins = beginTagOf(kind)
    for (let from = text.indexOf(shown); from >= 0; from = text.indexOf(shown, from + 1)) {
      for (const [at, { start, end }] of tokens.entries()) {
        const isInside = start >= from && end <= from + shown.length
        if (isInside && tags[at] === OUTSIDE) tags[at] = start === from ? begins : begins + 1
      }
    }
  }
  return { features: featuresOf(tokens), tags }
}

const ROUNDS = 8
/** Bias towards not being a name, because texts of unseen writers have more false positives than misses. */
const LEANING = -2
/** Larger weights are clipped. Few are. */
const MAX_WEIGHT = 48
const CELLS = SHAPE.slots * SHAPE.classes

/** Trains an averaged structured perceptron on these texts, generated addresses and the examples. Deterministic. */
export function learnNames(texts: readonly Marked[], nameless: readonly Example[]): Model {
  const examples = [...texts.map(exampleOf), ...nameless, ...madeAddresses().map(exampleOf)]
  const weights = new Float64Array(CELLS)
  const summed = new Float64Array(CELLS)
  let step = 1
  for (let round = 0; round < ROUNDS; round++) {
    for (const at of shuffled(examples.length, round)) {
      const { features, tags } = examples[at]!
      const got = likeliestTags(weights, NO_BIAS, features)
      const change = (cell: number, by: number) => {
        weights[cell]! += by
        summed[cell]! += by * step
      }
      for (let place = 0; place < tags.length; place++) {
        learnPlace(features[place]!, tags, got, place, change)
      }
      step++
    }
  }
  const mean = weights.map((weight, cell) => weight - summed[cell]! / step)
  const scale = MAX_WEIGHT / 127
  const rows = Int8Array.from(mean, (weight) => Math.max(-127, Math.min(127, Math.round(weight / scale))))
  return {
    rows,
    bias: Float64Array.from(NO_BIAS, (_, tag) => (tag === OUTSIDE ? -LEANING / scale : 0)),
    scale,
    sharpness: 1,
  }
}

const NO_BIAS = new Float64Array(TAGS)

/** Moves the weights of one token from the predicted tag to the correct one, if they differ. */
function learnPlace(
  features: Int32Array,
  tags: Uint8Array,
  got: Uint8Array,
  place: number,
  change: (cell: number, by: number) => void,
): void {
  const [right, stated] = [tags[place]!, got[place]!]
  const [rightBefore, statedBefore] = place ? [tags[place - 1]!, got[place - 1]!] : [OUTSIDE, OUTSIDE]
  if (right !== stated) {
    for (const slot of features) {
      change(slot * TAGS + right, 1)
      change(slot * TAGS + stated, -1)
    }
  }
  if (right !== stated || rightBefore !== statedBefore) {
    change((SLOTS + rightBefore) * TAGS + right, 1)
    change((SLOTS + statedBefore) * TAGS + stated, -1)
  }
}

/** The numbers from 0 to n-1, shuffled differently in each round but identically in every run. */
function shuffled(n: number, round: number): number[] {
  const order = Array.from({ length: n }, (_, at) => at)
  let state = (round + 1) * 2654435761
  for (let last = n - 1; last > 0; last--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    const other = Math.floor((state / 2 ** 32) * (last + 1))
    ;[order[last], order[other]] = [order[other]!, order[last]!]
  }
  return order
}
