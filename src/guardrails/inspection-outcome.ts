import type { Finding, GuardrailId, Verdict } from './guardrail'
import { addMatches, markOf, type Span, withSpans } from './inspection-redaction'
import type { CompiledRule } from './policy-compile-rule'
import { messageOf } from './policy-rule-config'
import type { Firing } from './schema'

/** What the rules of one phase made of one text (contract 12). */
export type Outcome = {
  /** The text without what redacting rules found. */
  text: string
  /** What was redacted, in offsets of the original text. */
  spans: readonly Span[]
  /** The rules that fired, in order. Where one blocked, it is the last. */
  firings: readonly Firing[]
  blocked: Blocked | null
  /** The rules that let the text pass without being sure: what a second look asks an engine about. */
  doubts: readonly Doubt[]
}

/** A rule by its index in its set, and the stretch of `Outcome.text` it is unsure of. */
export type Doubt = { index: number; start: number; end: number }

/** The rule that ended the phase. `message` is the policy author's text for it, null when there is none. */
export type Blocked = { guardrailId: GuardrailId; detail: string; message: string | null }

/** What is shown in place of a blocked answer: the policy author's message, or a neutral sentence. */
export const standIn = ({ message }: Blocked): string => message ?? 'This answer was withheld by a guardrail.'

/** The finding of a rule that failed or took too long: it counts as having fired on the whole text. */
export const UNCHECKED: Finding = { detail: 'could not be checked', matches: [] }

/** No rule fired. */
export const cleanOutcome = (text: string): Outcome => ({ text, spans: [], firings: [], blocked: null, doubts: [] })

/**
 * The outcome when the rules could not run at all: it fails closed. The first rule that blocks or redacts does so on
 * the whole text; with rules that only flag, all of them fire and the text passes.
 */
export function failClosed(rules: readonly CompiledRule[], text: string): Outcome {
  const index = rules.findIndex(({ verdict }) => verdict !== 'flag')
  const rule = rules[index]
  if (!rule) return { ...cleanOutcome(text), firings: rules.map((one) => firingOf(one, UNCHECKED.detail)) }
  const firings = rules.slice(0, index + 1).map((one) => firingOf(one, UNCHECKED.detail))
  if (rule.verdict === 'block') return { ...cleanOutcome(text), firings, blocked: blockedBy(rule, UNCHECKED) }
  const spans = addRedaction(text, [], UNCHECKED, rule.guardrail_id)
  return { text: withSpans(text, spans), spans, firings, blocked: null, doubts: [] }
}

/** The redactions of a text with those of one more finding; a finding without matches redacts all of it. */
export const addRedaction = (text: string, spans: readonly Span[], { matches }: Finding, id: GuardrailId): Span[] =>
  matches.length ? addMatches(text, spans, matches) : [{ start: 0, end: text.length, text: markOf(id) }]

export const blockedBy = (rule: CompiledRule, { detail }: Finding): Blocked => ({
  guardrailId: rule.guardrail_id,
  detail,
  message: messageOf(rule),
})

export const firingOf = (
  { guardrail_id, phase, verdict }: { guardrail_id: GuardrailId; phase: Firing['phase']; verdict: Verdict },
  detail: string,
): Firing => ({ guardrail_id, phase, verdict, detail })
