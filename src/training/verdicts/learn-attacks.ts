import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { scanForInjection } from '../../text/injection'
import { type Features, type Model, scoresOf, softmax } from '../../text/model'
import { promptFeaturesOf } from '../../text/model-prompt-features'
import { reading } from '../../text/reading'
import { featuresOf, sentenceFeaturesOf, weightOf } from '../../text/verdicts/features'
import { MIN_TOKENS } from '../../text/verdicts/likeliest'
import { LABELS, shapeOf } from '../../text/verdicts/models'
import { endsOf, wholeOf } from '../../text/verdicts/weigh'
import type { Labelled } from '../corpus'
import { between, type Example, learn, rounded } from '../learn'
import { exampleOf } from './lines'

/**
 * A text by a writer who did not see other writers' texts. `kind` is a request (`direct`, `paraphrase`), a `document`
 * or a `tool`'s output. For an attack inside the last two, the attacking sentences are not labelled.
 */
export type Written = { text: string; label: 'attack' | 'honest'; kind: string; writer: string }

/** A model of stretches, a model of whole texts and a model of text ends. */
export type Learned = { stretches: Model; texts: Model; ends: Model }

/**
 * The results of the rules, and of models that never saw the text or its writer, for its worst stretch, its whole and
 * its ends.
 */
export type Judged = Written & { scores: Float64Array; whole: number; ends: number; sentences: number; rule: boolean }

/** Number of the most suspicious stretches of an honest text that are learned as ordinary. */
const WORST = 3
/** An attack in a text with more stretches leaves some that are certainly ordinary. */
const MANY = 8

export function writtenTexts(): Written[] {
  const folder = join(import.meta.dir, 'writers')
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  return files.sort().flatMap((file) => {
    const rows = readFileSync(join(folder, file), 'utf8').trim().split('\n')
    return rows.map((row) => ({ ...(JSON.parse(row) as Written), writer: file.replace('.jsonl', '') }))
  })
}

export const writersOf = (written: readonly Written[]): string[] => [...new Set(written.map(({ writer }) => writer))]

/**
 * Trains the models on labelled lines and on writers' texts. A text is labelled but its sentences are not, so a model
 * of the lines decides which of them is the attack, and the final model learns from that (multiple-instance learning).
 */
export function learnWith(lines: readonly Labelled<string>[], written: readonly Written[]): Learned {
  const examples = lines.map((one) => exampleOf('attacks', one))
  const shape = shapeOf('attacks')
  const first = rounded(learn(examples, shape))
  const chosen = written.flatMap((one) => {
    const ranked = rankedBy(first, stretchesOf(one.text))
    return one.label === 'attack' ? ofAttack(one, ranked) : ofHonest(one, ranked)
  })
  const targetOf = ({ label }: Written): number => (label === 'attack' ? 1 : 0)
  const wholes = written.map((one) => ({ features: wholeText(one.text), target: targetOf(one) }))
  // The lines cover honest requests for roles and tones, the writers' texts cover long documents. The average of both
  // beats either alone.
  const endsOfTexts = written.map((one) => ({ features: promptFeaturesOf(one.text), target: targetOf(one) }))
  const endsOfLines = lines.map(({ text, label }) => ({
    features: promptFeaturesOf(text),
    target: label === LABELS.attacks[0] ? 0 : 1,
  }))
  const learnEnds = (some: readonly Example[]) => learn(some, shapeOf('ends'))
  return {
    stretches: rounded(learn([...examples, ...chosen], shape)),
    texts: rounded(learn(wholes, shapeOf('texts'))),
    ends: rounded(between(learnEnds(endsOfTexts), learnEnds([...endsOfLines, ...endsOfTexts]))),
  }
}

/** The results of the models for a text that they do not know. */
export function judgedBy({ stretches, texts, ends }: Learned, one: Written): Judged {
  const [worst] = rankedBy(stretches, stretchesOf(one.text))
  const scores = scoresOf(stretches, worst?.features ?? NOTHING)
  const sentences = sentenceFeaturesOf(one.text)
  return {
    ...one,
    scores,
    whole: wholeOf(texts, sentences),
    sentences: sentences.count,
    ends: endsOf(ends, one.text),
    rule: scanForInjection(one.text).some(({ severity }) => severity === 'block'),
  }
}

const NOTHING: Features = { slots: new Uint32Array(), weights: new Float64Array() }

/** A text as the detector reads it: each sentence alone, and together with the previous one. */
function stretchesOf(text: string): Features[] {
  const { count, tokens, slotsEnd, slots } = sentenceFeaturesOf(text)
  const out: Features[] = []
  for (let at = 0; at < count; at++) {
    const start = at ? slotsEnd[at - 1]! : 0
    const end = slotsEnd[at]!
    if (tokens[at]! >= MIN_TOKENS) out.push(weighed(slots.slice(start, end)))
    if (at) out.push(weighed(slots.slice(at > 1 ? slotsEnd[at - 2]! : 0, end)))
  }
  return out
}

type Ranked = { features: Features; chance: number; target: number }

const rankedBy = (model: Model, stretches: readonly Features[]): Ranked[] =>
  stretches.map((features) => ({ features, ...chancesOf(model, features) })).sort((a, b) => b.chance - a.chance)

function ofAttack({ kind, text }: Written, ranked: readonly Ranked[]): Example[] {
  const [worst] = ranked
  if (!worst) return []
  const isRequest = kind === 'direct' || kind === 'paraphrase'
  const besides = ranked.length > MANY ? ranked.slice(-2).map(({ features }) => ({ features, target: 0 })) : []
  return [worst, ...(isRequest ? [{ features: wholeText(text), target: worst.target }] : besides)]
}

function ofHonest({ text }: Written, ranked: readonly Ranked[]): Example[] {
  const worst = ranked.slice(0, WORST)
  const rest = ranked.length - WORST
  // One more of the rest, so that the ordinary examples are not only suspicious sentences.
  if (rest > 0) worst.push(ranked[WORST + ((text.length * 7) % rest)]!)
  return [{ features: wholeText(text), target: 0 }, ...worst.map(({ features }) => ({ features, target: 0 }))]
}

/** The probability of not being ordinary, and the more probable class of attack. */
function chancesOf(model: Model, features: Features): { chance: number; target: number } {
  const [ordinary, injection, jailbreak] = softmax(scoresOf(model, features))
  return { chance: 1 - ordinary!, target: injection! >= jailbreak! ? 1 : 2 }
}

const wholeText = (text: string): Features => featuresOf(reading(text).text)

const weighed = (slots: Int32Array): Features => ({
  slots: Uint32Array.from(slots),
  weights: new Float64Array(slots.length).fill(weightOf(slots.length)),
})
