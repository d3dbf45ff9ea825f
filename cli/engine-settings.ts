import { clean } from '../src/kernel/text'
import { usageFailure } from './failure'
import { choice, duration, repeated, whole } from './words'

const ABILITIES = ['yes', 'no', 'auto'] as const
const MOST_TOKENS = 100_000_000
const MOST_PRICE = 1_000_000_000_000

/** What may be set of an upstream, as flags (contract 28.4). */
export const SETTING_FLAGS = {
  contextWindow: whole('N', 'maximum tokens of prompt and answer together', { min: 1_000, max: MOST_TOKENS }),
  maxOutputTokens: whole('N', 'maximum tokens of an answer', { min: 1, max: 1_000_000 }),
  callTimeout: duration('90s', 'longest whole call'),
  silence: duration('20s', 'longest wait for the next byte'),
  concurrency: whole('N', 'maximum calls at a time, the others wait; 0 means no limit', { min: 0, max: 100_000 }),
  header: repeated('NAME:VALUE', 'header sent with every call'),
  vision: choice(ABILITIES, 'whether it accepts images; auto uses what it reports'),
  tools: choice(ABILITIES, 'whether it supports tools'),
  jsonOutput: choice(ABILITIES, 'whether it can answer in JSON on request'),
  imageEdits: choice(ABILITIES, 'whether it edits pictures; auto knows some models'),
  pricePrompt: whole('N', 'micro-cents for 1,000 tokens of a prompt', { min: 0, max: MOST_PRICE }),
  priceCompletion: whole('N', 'micro-cents for 1,000 tokens of an answer', { min: 0, max: MOST_PRICE }),
}

type Given<F> = { [N in keyof F]?: F[N] extends { read(...args: never[]): infer V } ? V : never }

/** The settings that the flags name; `auto` is null, which takes a setting back. */
export function settingsOf(given: Given<typeof SETTING_FLAGS>) {
  const { contextWindow, maxOutputTokens, callTimeout, silence, concurrency, pricePrompt, priceCompletion } = given
  const prices = defined({ promptPer1k: pricePrompt, completionPer1k: priceCompletion })
  return defined({
    contextWindow,
    maxOutputTokens,
    timeoutMs: callTimeout,
    silenceMs: silence,
    concurrency,
    headers: given.header && Object.fromEntries(given.header.map(readHeader)),
    vision: readAbility(given.vision),
    tools: readAbility(given.tools),
    json: readAbility(given.jsonOutput),
    imageEdits: readAbility(given.imageEdits),
    prices: Object.keys(prices).length ? prices : undefined,
  })
}

type Defined<T> = { [N in keyof T]?: Exclude<T[N], undefined> }

const defined = <T extends Record<string, unknown>>(all: T): Defined<T> =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Defined<T>

const readAbility = (word: (typeof ABILITIES)[number] | undefined): boolean | null | undefined =>
  word === undefined ? undefined : word === 'auto' ? null : word === 'yes'

function readHeader(word: string): [string, string] {
  const colon = word.indexOf(':')
  if (colon < 1) throw usageFailure(`--header is "${clean(word)}"; write NAME:VALUE.`)
  return [word.slice(0, colon).trim(), word.slice(colon + 1).trim()]
}

/** A new upstream has nothing to take back. */
export const withoutNull = <T extends object>(all: T) =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) as {
    [N in keyof T]: Exclude<T[N], null>
  }
