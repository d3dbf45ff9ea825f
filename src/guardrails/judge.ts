import { type Finding, type GuardrailId, type Inspected, TooSlow, type Verdict } from './guardrail'
import type { Rule } from './policy'
import { addMatches, markOf, type Span, withSpans } from './redaction'
import { messageOf } from './rules'
import type { Firing } from './schema'

/** What the rules of one phase made of one text. */
export type Judgement = {
  /** With what redacting rules found taken out. */
  text: string
  /** Where of the original that was. */
  spans: readonly Span[]
  /** In the order of the rules; the last of them is the one that blocked, if one did. */
  firings: readonly Firing[]
  blocked: Blocked | null
  /** Which rules let it pass without being sure. */
  doubts: readonly Doubt[]
}

/** The place of a rule in its set, and which stretch of the text as it reads now it is unsure of. */
export type Doubt = { place: number; start: number; end: number }

/** Which rule ended the phase; `message` is what its author has to say, null without any. */
export type Blocked = { guardrailId: GuardrailId; detail: string; message: string | null }

/** What stands for an answer that is blocked: the author's words, or neutral ones. */
export const standIn = ({ message }: Blocked): string => message ?? 'This answer was withheld by a guardrail.'

type Judged = { judgement: Judgement; results: readonly (Finding | null)[] }

const MOST_MS = 5_000
/** What rules may take together on the event loop. */
const MOST_MS_INLINE = 10
/** What a rule comes to that could not be asked: the text as a whole. */
export const UNCHECKED: Finding = { detail: 'could not be checked', matches: [] }

export const unjudged = (text: string): Judgement => ({ text, spans: [], firings: [], blocked: null, doubts: [] })

/**
 * Runs rules over a text in their order; each sees what those before it left, and the first that blocks ends it
 * (contract 12). A rule that throws or takes too long counts as having fired on the whole text: what it guards
 * stays closed, and its detail says so.
 * @throws TooSlow unless the look is a patient one
 */
export async function judge(rules: readonly Rule[], text: string, about: Inspected): Promise<Judgement> {
  let spans: readonly Span[] = []
  let current = text
  const firings: Firing[] = []
  const doubts: Doubt[] = []
  const look = lookWith(about)
  for (const [place, rule] of rules.entries()) {
    const unsure = (part: Omit<Doubt, 'place'>) => doubts.push({ place, ...part })
    const finding = await look(rule, current, rule.question === undefined ? undefined : unsure)
    if (!finding) continue
    firings.push(firingOf(rule, finding.detail))
    if (rule.verdict === 'block') return { text: current, spans, firings, blocked: blockedBy(rule, finding), doubts }
    if (rule.verdict === 'redact') {
      spans = redacted(text, spans, finding, rule.guardrail_id)
      current = withSpans(text, spans)
    }
  }
  return { text: current, spans, firings, blocked: null, doubts }
}

/** What a phase comes to whose rules could not be asked: the first that guards decides. */
export function unanswered(rules: readonly Rule[], text: string): Judgement {
  const guards = rules.findIndex(({ verdict }) => verdict !== 'flag')
  const rule = rules[guards]
  if (!rule) return { ...unjudged(text), firings: rules.map((one) => firingOf(one, UNCHECKED.detail)) }
  const firings = rules.slice(0, guards + 1).map((one) => firingOf(one, UNCHECKED.detail))
  if (rule.verdict === 'block') return { ...unjudged(text), firings, blocked: blockedBy(rule, UNCHECKED) }
  const spans = redacted(text, [], UNCHECKED, rule.guardrail_id)
  return { text: withSpans(text, spans), spans, firings, blocked: null, doubts: [] }
}

/** What every rule says, whatever those before it said: for whoever tries a policy out. */
export async function judgeEach(rules: readonly Rule[], text: string, about: Inspected): Promise<Judged> {
  let judgement = unjudged(text)
  const results: (Finding | null)[] = []
  const look = lookWith(about)
  for (const rule of rules) {
    const finding = await look(rule, judgement.text)
    results.push(finding)
    if (finding && rule.verdict === 'redact') {
      const spans = redacted(text, judgement.spans, finding, rule.guardrail_id)
      judgement = { ...judgement, spans, text: withSpans(text, spans) }
    }
  }
  return { judgement, results }
}

export const blockedBy = (rule: Rule, { detail }: Finding): Blocked => ({
  ...{ guardrailId: rule.guardrail_id, detail, message: messageOf(rule) },
})

const redacted = (text: string, spans: readonly Span[], { matches }: Finding, id: GuardrailId): Span[] =>
  matches.length ? addMatches(text, spans, matches) : [{ start: 0, end: text.length, text: markOf(id) }]

/** Asks one rule after the other. Throws {@link TooSlow} where that would hold up the event loop. */
function lookWith(about: Inspected) {
  const until = about.patient ? Infinity : performance.now() + MOST_MS_INLINE
  return async ({ inspect }: Rule, text: string, unsure?: Inspected['unsure']): Promise<Finding | null> => {
    if (performance.now() > until) throw new TooSlow()
    try {
      const found = inspect(text, unsure ? { ...about, unsure } : about)
      return found instanceof Promise ? await inTime(found) : found
    } catch (error) {
      if (error instanceof TooSlow) throw error
      // The cause may quote the text, so it goes nowhere; that it failed is on the record.
      return UNCHECKED
    }
  }
}

async function inTime(found: Promise<Finding | null>): Promise<Finding | null> {
  const { promise: late, resolve } = Promise.withResolvers<Finding>()
  const timer = setTimeout(() => resolve(UNCHECKED), MOST_MS)
  try {
    return await Promise.race([found, late])
  } finally {
    clearTimeout(timer)
  }
}

export const firingOf = (
  { guardrail_id, phase, verdict }: { guardrail_id: GuardrailId; phase: Firing['phase']; verdict: Verdict },
  detail: string,
): Firing => ({ guardrail_id, phase, verdict, detail })
