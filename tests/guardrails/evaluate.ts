import { readFileSync } from 'node:fs'
import { GUARDRAILS } from '../../src/guardrails/catalogue'
import type { Finding, GuardrailId, Inspect, Match, Phase } from '../../src/guardrails/guardrail'
import { readCorpus } from '../../src/training/corpus'
import { type Marked, readMarked } from './marked'

const HELD = 'tests/guardrails/held-out'

/** A guardrail compiled as for a rule of a policy. */
export const prepared = (id: GuardrailId, config: Record<string, unknown> = {}): Inspect =>
  GUARDRAILS.get(id)!.prepare(config)

export const found = async (inspect: Inspect, text: string, phase: Phase = 'input'): Promise<readonly Match[]> =>
  (await inspect(text, { phase }))?.matches ?? []

/** How many spans were found, were missed, or were found though nothing is there. */
export type Tally = { hits: number; misses: number; extras: number }
export const f1Of = ({ hits, misses, extras }: Tally): number => (2 * hits) / (2 * hits + misses + extras)
export const recallOf = ({ hits, misses }: Tally): number => hits / (hits + misses)

/** Counts by kind; a span counts as found when its offsets are exactly the marked ones. */
export async function piiOutcomes(): Promise<Map<string, Tally>> {
  const inspect = prepared('pii')
  const tallies = new Map<string, Tally>()
  const tallyOf = (kind: string): Tally => {
    const known = tallies.get(kind) ?? { hits: 0, misses: 0, extras: 0 }
    tallies.set(kind, known)
    return known
  }
  const keyOf = ({ kind, start, end }: Match) => `${kind} ${start} ${end}`
  for (const { text, spans } of readMarked(`${HELD}/pii.txt`)) {
    const got = new Set((await found(inspect, text)).map(keyOf))
    const wanted = new Set(spans.map(keyOf))
    for (const span of spans) tallyOf(span.kind)[got.has(keyOf(span)) ? 'hits' : 'misses']++
    for (const key of got) if (!wanted.has(key)) tallyOf(key.split(' ')[0]!).extras++
  }
  return tallies
}

export const sumOf = (tallies: Iterable<Tally>): Tally =>
  [...tallies].reduce(
    (sum, one) => ({ hits: sum.hits + one.hits, misses: sum.misses + one.misses, extras: sum.extras + one.extras }),
    { hits: 0, misses: 0, extras: 0 },
  )

/** A secret counts as found when one match covers all of it. */
export async function secretOutcomes(): Promise<Tally> {
  const inspect = prepared('secrets')
  const tally = { hits: 0, misses: 0, extras: 0 }
  for (const { text, spans } of readMarked(`${HELD}/secrets.txt`)) {
    const got = await found(inspect, text)
    const covers = (a: Match, b: Match) => a.start <= b.start && a.end >= b.end
    for (const span of spans) tally[got.some((one) => covers(one, span)) ? 'hits' : 'misses']++
    tally.extras += got.filter((one) => !spans.some((span) => one.start < span.end && span.start < one.end)).length
  }
  return tally
}

export const cleanTexts = (): Marked[] => readMarked(`${HELD}/clean.txt`)
export const secretlessTexts = (): Marked[] => [...readMarked(`${HELD}/secrets-clean.txt`), ...cleanTexts()]

const PROMPTS = [
  'src/training/classifier/corpus',
  'src/training/classifier/calibration',
  'tests/routing/classifier/held-out',
]
const TRAINING = ['attacks', 'safety', 'ordinary'].map((name) => `src/training/verdicts/${name}`)

/** Everyday prompts in many languages, and harmless texts about attacks and unsafe things. */
export const ordinaryTexts = (): { text: string; language: string }[] => [
  ...PROMPTS.flatMap((folder) => readCorpus(folder, null, 4)),
  ...TRAINING.flatMap((folder) => readCorpus(folder, null, 4)).filter(({ label }) => label === 'clean'),
]

/** The share of texts in which something is found. */
export async function touchedShare(inspect: Inspect, texts: readonly { text: string }[]): Promise<number> {
  let touched = 0
  for (const { text } of texts) if (await inspect(text, { phase: 'input' })) touched++
  return touched / texts.length
}

export type Labelled = { language: string; label: string; text: string }

/** Reads held-out texts: a heading `[language label]`, then one text per line. */
export function labelled(name: string): Labelled[] {
  let heading = { language: '', label: '' }
  return readFileSync(`${HELD}/${name}.txt`, 'utf8')
    .split('\n')
    .filter(Boolean)
    .flatMap((line) => {
      const named = /^\[(\w+) (\w+)\]$/.exec(line)
      if (named) heading = { language: named[1]!, label: named[2]! }
      return named ? [] : [{ ...heading, text: line.replaceAll('\\n', '\n') }]
    })
}

const SCORE = /\((\d\.\d+)\)$/
const scoreOf = (finding: Finding | null): number => Number(finding && SCORE.exec(finding.detail)?.[1])

/** The score a guardrail gives a text, and the label it would give at the usual threshold. */
export type Scored = Labelled & { score: number; isMeant: boolean; got: string }

export async function attackOutcomes(name = 'attacks'): Promise<Scored[]> {
  const checks = [
    ['injection', prepared('prompt_injection', { threshold: 0.001 })],
    ['jailbreak', prepared('jailbreak', { threshold: 0.001 })],
  ] as const
  const outcomes: Scored[] = []
  for (const one of labelled(name)) {
    const scores = await Promise.all(
      checks.map(async ([label, inspect]) => ({ label, score: scoreOf(await inspect(one.text, { phase: 'input' })) })),
    )
    const best = scores.sort((a, b) => b.score - a.score)[0]!
    const got = best.score >= 0.8 ? best.label : 'clean'
    outcomes.push({ ...one, score: best.score, isMeant: one.label !== 'clean', got })
  }
  return outcomes
}

const CATEGORIES = ['hate', 'harassment', 'violence', 'sexual', 'self_harm', 'illicit']

export async function safetyOutcomes(): Promise<Scored[]> {
  const any = prepared('content_safety', { threshold: 0.001 })
  const each = CATEGORIES.map((category) => ({
    category,
    inspect: prepared('content_safety', { categories: [category] }),
  }))
  const outcomes: Scored[] = []
  for (const one of labelled('safety')) {
    const score = scoreOf(await any(one.text, { phase: 'input' }))
    const hits = []
    for (const { category, inspect } of each) {
      if (await inspect(one.text, { phase: 'input' })) hits.push(category)
    }
    const got = hits.includes(one.label) ? one.label : (hits[0] ?? 'clean')
    outcomes.push({ ...one, score, isMeant: one.label !== 'clean', got })
  }
  return outcomes
}

export const shareOf = <T>(all: readonly T[], is: (one: T) => boolean): number => all.filter(is).length / all.length
