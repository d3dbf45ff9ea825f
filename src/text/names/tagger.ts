import { join } from 'node:path'
import { type Model, readModel, type Shape } from '../model/model'
import type { TextSpan } from '../span'
import { featuresOf, SLOTS, type Token, tokensOf } from './tokens'

/** What a token is: no part of a name, its beginning, or more of it. */
export const TAGS = ['outside', 'begins', 'goes on'] as const
export const [OUTSIDE, BEGINS, GOES_ON] = [0, 1, 2] as const
const KINDS = TAGS.length

/** After the features' rows comes one for each tag that a token may have before it. */
export const SHAPE: Shape = { slots: SLOTS + KINDS, classes: KINDS }
export const MODEL_FILE = join(import.meta.dir, 'training', 'names.bin')

let model: Model | undefined

/** Read with the first text or policy that needs it. Throws Error when the installation is broken. */
const namesModel = (): Model => (model ??= readModel(MODEL_FILE, SHAPE))

/** The names in a text, as a model sees them. Linear. */
export function namesIn(text: string, by: Model = namesModel()): TextSpan[] {
  const tokens = tokensOf(text)
  return spansOf(tokens, likeliestTags(by.rows, by.bias, featuresOf(tokens)))
}

/** The stretches that begin with a tag `begins` and go on with `goes on`. */
function spansOf(tokens: readonly Token[], tags: ArrayLike<number>): TextSpan[] {
  const spans: { start: number; end: number }[] = []
  for (const [at, { start, end }] of tokens.entries()) {
    if (tags[at] === BEGINS) spans.push({ start, end })
    else if (tags[at] === GOES_ON) spans.at(-1)!.end = end
  }
  return spans
}

const NEVER = -1e9

/** The likeliest tags of a row of tokens, each judged with the one before it (Viterbi). `rows` are as of `SHAPE`. */
export function likeliestTags(
  rows: ArrayLike<number>,
  bias: ArrayLike<number>,
  features: readonly Int32Array[],
): Uint8Array {
  const count = features.length
  const from = new Uint8Array(count * KINDS)
  let sums = [0, NEVER, NEVER]
  for (let at = 0; at < count; at++) {
    const own = ownScores(rows, bias, features[at]!)
    const next = [NEVER, NEVER, NEVER]
    for (let tag = 0; tag < KINDS; tag++) {
      for (let before = 0; before < KINDS; before++) {
        if (tag === GOES_ON && before === OUTSIDE) continue
        const sum = sums[before]! + own[tag]! + rows[(SLOTS + before) * KINDS + tag]!
        if (sum <= next[tag]!) continue
        next[tag] = sum
        from[at * KINDS + tag] = before
      }
    }
    sums = next
  }
  const tags = new Uint8Array(count)
  let tag = sums.indexOf(Math.max(...sums))
  for (let at = count - 1; at >= 0; at--) {
    tags[at] = tag
    tag = from[at * KINDS + tag]!
  }
  return tags
}

function ownScores(rows: ArrayLike<number>, bias: ArrayLike<number>, slots: Int32Array): [number, number, number] {
  let [outside, begins, goesOn] = [bias[0]!, bias[1]!, bias[2]!]
  for (let at = 0; at < slots.length; at++) {
    const row = slots[at]! * KINDS
    outside += rows[row]!
    begins += rows[row + 1]!
    goesOn += rows[row + 2]!
  }
  return [outside, begins, goesOn]
}
