import { join } from 'node:path'
import { type Model, readModel, type Shape } from '../model'
import { remember } from '../runs'
import type { TextSpan } from '../schema'
import { featuresOf, SLOTS, type Token, tokensOf } from './tokens'

/**
 * The kinds of entities that the model finds. For each kind there are two tags: a token may begin an entity (odd tag)
 * or continue it (the following even tag).
 */
export const KINDS = ['name', 'address'] as const
export type Kind = (typeof KINDS)[number]
export type Tagged = TextSpan & { kind: Kind }

/** The tag of no kind. Then follow two for each kind. */
export const OUTSIDE = 0
export const TAGS = 1 + 2 * KINDS.length
export const beginTagOf = (kind: Kind): number => 1 + 2 * KINDS.indexOf(kind)
const isBeginTag = (tag: number): boolean => tag % 2 === 1

/** After the rows of the features follows one row for each possible previous tag. */
export const SHAPE: Shape = { slots: SLOTS + TAGS, classes: TAGS }
export const MODEL_FILE = join(import.meta.dir, 'names.bin')

let model: Model | undefined

/** Loaded with the first text or policy that needs it. Throws Error when the installation is broken. */
const namesModel = (): Model => (model ??= readModel(MODEL_FILE, SHAPE))

/** The names and addresses in a text that the model detects. Linear. */
export function taggedIn(text: string, { rows, bias }: Model = namesModel()): Tagged[] {
  const tokens = tokensOf(text)
  return spansOf(tokens, likeliestTags(rows, bias, featuresOf(tokens)))
}

/** The detected entities of one kind. Cached for the last text, because several kinds are requested in a row. */
const lastTagged = remember((text) => taggedIn(text))
export const found = (text: string, wanted: Kind): Tagged[] => lastTagged(text).filter(({ kind }) => kind === wanted)

/** Combines a begin tag and its continuation tags into spans. */
function spansOf(tokens: readonly Token[], tags: ArrayLike<number>): Tagged[] {
  const spans: { start: number; end: number; kind: Kind }[] = []
  for (const [at, { start, end }] of tokens.entries()) {
    const tag = tags[at]!
    if (isBeginTag(tag)) spans.push({ start, end, kind: KINDS[(tag - 1) / 2]! })
    else if (tag !== OUTSIDE) spans.at(-1)!.end = end
  }
  return spans
}

const NEVER = -1e9

/** The permitted previous tags of each tag: a kind only continues where it began. */
const BEFORE: readonly (readonly number[])[] = Array.from({ length: TAGS }, (_, tag) =>
  Array.from({ length: TAGS }, (_, before) => before).filter(
    (before) => tag === OUTSIDE || isBeginTag(tag) || before === tag || before === tag - 1,
  ),
)

/** The most probable tags of a token sequence, each judged with the one before (Viterbi). `rows` are as in `SHAPE`. */
export function likeliestTags(
  rows: ArrayLike<number>,
  bias: ArrayLike<number>,
  features: readonly Int32Array[],
): Uint8Array {
  const count = features.length
  const from = new Uint8Array(count * TAGS)
  const own = new Float64Array(TAGS)
  let sums = new Float64Array(TAGS).fill(NEVER)
  let next = new Float64Array(TAGS)
  sums[OUTSIDE] = 0
  for (let at = 0; at < count; at++) {
    setScores(own, rows, bias, features[at]!)
    for (let tag = 0; tag < TAGS; tag++) {
      next[tag] = Number.NEGATIVE_INFINITY
      for (const before of BEFORE[tag]!) {
        const sum = sums[before]! + own[tag]! + rows[(SLOTS + before) * TAGS + tag]!
        if (sum <= next[tag]!) continue
        next[tag] = sum
        from[at * TAGS + tag] = before
      }
    }
    ;[sums, next] = [next, sums]
  }
  const tags = new Uint8Array(count)
  let tag = sums.indexOf(Math.max(...sums))
  for (let at = count - 1; at >= 0; at--) {
    tags[at] = tag
    tag = from[at * TAGS + tag]!
  }
  return tags
}

/** Writes the score of each tag for one token into `own`. */
function setScores(own: Float64Array, rows: ArrayLike<number>, bias: ArrayLike<number>, slots: Int32Array): void {
  for (let tag = 0; tag < TAGS; tag++) own[tag] = bias[tag]!
  for (let at = 0; at < slots.length; at++) {
    const row = slots[at]! * TAGS
    for (let tag = 0; tag < TAGS; tag++) own[tag]! += rows[row + tag]!
  }
}
