import { quoted } from '../kernel/errors'
import { oneOf, strictObject, t } from '../kernel/schema'
import {
  attackIn,
  compileLinear,
  contentWords,
  ENTITIES,
  type Entity,
  type LinearPattern,
  loadModel,
  personalDataFinder,
  remember,
} from '../text'
import {
  countsOf,
  DEFAULT_THRESHOLD,
  defineGuardrail,
  type Finding,
  findingOfMatches,
  type Inspect,
  InvalidConfig,
  type Match,
  ordinaryFinding,
  ThresholdOnly,
  TooSlow,
} from './guardrail'

/** The scores of rule findings: an attempt, or hidden content that a person should look at. */
const BY_RULE = 0.97
const BY_HIDDEN = 0.6
/** Below this score a text counts as ordinary and raises no doubt. */
const MIN_DOUBT = 0.3

/** The models that {@link attackIn} uses. */
const MODELS = ['attacks', 'texts', 'ends'] as const

export const promptInjection = defineGuardrail({
  id: 'prompt_injection',
  description:
    'Text that gives the engine orders of its own, asks for its hidden instructions or hides what it says; rules in forty languages and a local model, which also take what is new for what it resembles',
  phases: ['input', 'tool_result'],
  verdicts: ['block', 'flag'],
  config: ThresholdOnly,
  prepare({ threshold = DEFAULT_THRESHOLD }) {
    for (const name of MODELS) loadModel(name)
    return (text, { unsure }) => {
      const { rule, injection, jailbreak, either, likeliest: part } = attackIn(text)
      const byRule = rule ? (rule.severity === 'block' ? BY_RULE : BY_HIDDEN) : 0
      const found = findingOf(byRule, chanceOf(injection, jailbreak, either), threshold, rule?.about)
      if (!found && (rule || isDoubtful(either, threshold))) unsure?.(part)
      return found
    }
  },
  question: () =>
    'is written to an assistant so that it drops, changes or reveals the instructions it was given, or obeys whoever hid orders in it',
})

export const jailbreak = defineGuardrail({
  id: 'jailbreak',
  description:
    'Prompts that try to talk the engine out of its limits: roles without rules, modes without filters, games in which it may not refuse; rules and a local model',
  phases: ['input'],
  verdicts: ['block', 'flag'],
  config: ThresholdOnly,
  prepare({ threshold = DEFAULT_THRESHOLD }) {
    for (const name of MODELS) loadModel(name)
    return (text, { unsure }) => {
      const { jailbreakRule: rule, injection, jailbreak, either, likeliest: part } = attackIn(text)
      const found = findingOf(rule ? BY_RULE : 0, chanceOf(jailbreak, injection, either), threshold, rule?.about)
      if (!found && isDoubtful(either, threshold)) unsure?.(part)
      return found
    }
  },
  question: () => 'tries to talk an assistant out of its rules or limits, by a role, a game, a story or a made-up mode',
})

/** Whether the model is unsure. A text that is clearly one kind of attempt raises no doubt about the other kind. */
const isDoubtful = (either: number, threshold: number): boolean => either >= MIN_DOUBT && either < threshold

/** The score of one kind. The likelier kind gets the probability that the text is either kind. */
const chanceOf = (own: number, other: number, either: number): number => (own >= other ? either : own)

function findingOf(byRule: number, byModel: number, threshold: number, about: string | undefined): Finding | null {
  const score = Math.max(byRule, byModel)
  if (score < threshold || score === 0) return null
  if (score < MIN_DOUBT) return ordinaryFinding(score, threshold)
  const what = byRule >= threshold && about ? about : 'reads like an attempt to command the engine'
  return { detail: `${what} (${score.toFixed(2)})`, matches: [] }
}

/** The share of a claim's words that one source must contain. */
const MIN_SHARE = 0.6

/** A sentence with fewer content words makes no claim. */
const MIN_WORDS = 4

const SENTENCE = /[^.!?。！？\n]+(?:[.!?](?=\S)[^.!?。！？\n]*)*[.!?。！？]*/g

const NUMBER = /\d[\d.,]*\d|\d/g

const QUESTION = /[?？]\s*$/

const SEPARATOR = '\u0000'

export const groundedness = defineGuardrail({
  id: 'groundedness',
  description:
    'Answers with too many statements that none of the given sources supports, judged by shared words and numbers. Does not check answers without sources',
  phases: ['output'],
  verdicts: ['flag'],
  config: ThresholdOnly,
  prepare({ threshold = DEFAULT_THRESHOLD }) {
    return (text, { sources }) => {
      if (!sources?.length) return null
      const known = sourcesOf(sources.join(SEPARATOR))
      const claims = claimsOf(text)
      // A number that the source does not contain is made up, even if the words match.
      const baseless = claims.filter(
        (claim) =>
          !known.some((source) => {
            if (claim.numbers.some((number) => !source.numbers.has(number))) return false
            return claim.words.filter((word) => source.words.has(word)).length >= claim.words.length * MIN_SHARE
          }),
      )
      const share = 1 - baseless.length / claims.length
      if (!claims.length || share >= threshold) return null
      const matches: Match[] = baseless.map(({ start, end }) => ({ start, end, kind: 'unsupported' }))
      return { detail: `${baseless.length} of ${claims.length} statements are in none of the sources`, matches }
    }
  },
})

type Claim = { start: number; end: number; words: readonly string[]; numbers: readonly string[] }

const sourcesOf = remember((joined: string): { words: ReadonlySet<string>; numbers: ReadonlySet<string> }[] =>
  joined.split(SEPARATOR).map((source) => ({
    words: new Set(contentWords(source)),
    numbers: new Set(numbersIn(source)),
  })),
)

/** Removes thousands separators, so that `1,200.50` and `1200.50` are equal. */
const numbersIn = (text: string): string[] =>
  (text.match(NUMBER) ?? []).map((number) => number.replace(/[.,](?=\d{3}(?:\D|$))/g, ''))

function claimsOf(text: string): Claim[] {
  const claims: Claim[] = []
  for (const { 0: sentence, index } of text.matchAll(SENTENCE)) {
    const words = [...new Set(contentWords(sentence))]
    if (words.length < MIN_WORDS || QUESTION.test(sentence)) continue
    const start = index + sentence.length - sentence.trimStart().length
    claims.push({ start, end: index + sentence.trimEnd().length, words, numbers: numbersIn(sentence) })
  }
  return claims
}

const DEFAULT: readonly Entity[] = ['email', 'phone', 'credit_card', 'ssn', 'iban', 'ip_address']
const NAMES: Record<Entity, string> = {
  email: 'e-mail address',
  phone: 'phone number',
  credit_card: 'card number',
  ssn: 'national id number',
  iban: 'bank account number',
  ip_address: 'IP address',
  address: 'postal address',
  name: 'name of a person',
}

export const pii = defineGuardrail({
  id: 'pii',
  description:
    'Personal data: e-mail addresses, phone and card numbers, national ids, IBANs and IP addresses, by form and check digit; on request postal addresses and names, which are recognised by a local model and often missed',
  phases: ['input', 'output', 'tool_call', 'tool_result'],
  verdicts: ['block', 'redact', 'flag'],
  config: strictObject({ entities: t.Optional(t.Array(oneOf(ENTITIES), { minItems: 1, uniqueItems: true })) }),
  prepare: ({ entities = [...DEFAULT] }) => findingOfMatches(personalDataFinder(entities), countsOf(NAMES)),
})

const MAX_CHARS = 512
/**
 * Maximum pattern size with repetition counts written out. The worst pattern of this size takes half a second for four
 * thousand characters. An ordinary one takes a few milliseconds for a hundred thousand. On the event loop {@link
 * MAX_STEPS_INLINE} applies.
 */
const MAX_SIZE = 1_000
/** Time limit for finding matches, because each may read the rest of the text. Beyond it all text is one match. */
const MAX_MS = 500
/** The same limit on the event loop, and for counting matches that are not redacted. */
const MAX_MS_INLINE = 5
/** Maximum number of steps for one text on the event loop, about five milliseconds. */
const MAX_STEPS_INLINE = 200_000

export const regexMatch = defineGuardrail({
  id: 'regex_match',
  description: 'Texts that match your regular expression (ECMAScript without look-around and back-references)',
  phases: ['input', 'output', 'tool_call'],
  verdicts: ['block', 'redact', 'flag'],
  config: strictObject({
    pattern: t.String({ minLength: 1, maxLength: MAX_CHARS }),
    flags: t.Optional(t.String({ maxLength: 8, description: 'Any of g, i, m, s, u, v' })),
  }),
  prepare({ pattern, flags = '' }, verdict = 'redact') {
    const compiled = compile(pattern, flags)
    const isCounted = verdict !== 'redact'
    const inspect: Inspect = (text, { patient = false }) => {
      const isLarge = compiled.steps * text.length > MAX_STEPS_INLINE
      if (isLarge && !patient) throw new TooSlow()
      // Testing for a match is much faster than locating the matches.
      if (isLarge && isCounted) return compiled.test(text) ? { detail: 'matches the pattern', matches: [] } : null
      const { matches, isCut } = find(compiled, text, patient && !isCounted ? MAX_MS : MAX_MS_INLINE)
      if (isCut && isCounted) return { detail: `matches the pattern (${matches.length} or more)`, matches }
      if (isCut && !patient) throw new TooSlow()
      if (isCut) return { detail: 'matches the pattern more often than can be counted', matches: [] }
      if (matches.length) return { detail: `matches the pattern (${matches.length})`, matches }
      // An empty match has no position to report, but it still counts as a match.
      return compiled.test(text) ? { detail: 'matches the pattern', matches: [] } : null
    }
    return Object.assign(inspect, { weight: compiled.weight })
  },
})

function compile(pattern: string, flags: string): LinearPattern {
  const wrong = (what: string) => new InvalidConfig('flags', `is "${quoted(flags)}"; ${what}`)
  if (/[^gimsuv]/.test(flags)) throw wrong('the allowed flags are g, i, m, s, u and v')
  if (new Set(flags).size < flags.length) throw wrong('each letter may occur only once')
  if (flags.includes('u') && flags.includes('v')) throw wrong('u and v cannot be combined, leave one of them out')
  const how = { maxChars: MAX_CHARS, maxSize: MAX_SIZE, weighsProperties: true }
  try {
    return compileLinear(pattern, { ...how, flags: flags.replace('g', '') })
  } catch (error) {
    throw new InvalidConfig('pattern', `is "${quoted(pattern)}" and ${(error as Error).message}`)
  }
}

function find(pattern: LinearPattern, text: string, maxMs: number): { matches: Match[]; isCut: boolean } {
  const matches: Match[] = []
  const until = performance.now() + maxMs
  for (const place of pattern.find(text)) {
    matches.push({ ...place, kind: 'regex_match' })
    if (performance.now() > until) return { matches, isCut: true }
  }
  return { matches, isCut: false }
}
