import { type AboutText, type Finding, type GuardrailId, type Match, TooSlow, type Verdict } from './guardrail'
import { type CompiledRule, messageOf } from './policy'
import type { Firing } from './schema'

/** The result of running the rules of one phase on one text (docs/api.md 12). */
export type Outcome = {
  /** The text after redaction. */
  text: string
  /** The redacted parts, as offsets in the original text. */
  spans: readonly Span[]
  /** The rules that fired, in order. If one blocked, it is the last. */
  firings: readonly Firing[]
  blocked: Blocked | null
  /** The rules that let the text pass without being sure. A second look asks an engine about these. */
  doubts: readonly Doubt[]
}

/** The index of a rule in its set, and the stretch of `Outcome.text` it is unsure of. */
type Doubt = { index: number; start: number; end: number }

/** The rule that ended the phase. `message` is the policy author's text for it, or null. */
export type Blocked = { guardrailId: GuardrailId; detail: string; message: string | null }

/** The text shown instead of a blocked answer: the policy author's message, or a neutral sentence. */
export const replacementText = ({ message }: Blocked): string => message ?? 'This answer was withheld by a guardrail.'

/** The finding of a rule that failed or timed out: it counts as having fired on the whole text. */
export const UNCHECKED: Finding = { detail: 'could not be checked', matches: [] }

/** The outcome when no rule fired. */
export const cleanOutcome = (text: string): Outcome => ({ text, spans: [], firings: [], blocked: null, doubts: [] })

/**
 * The outcome when the rules could not run at all: it fails closed. The first rule that blocks or redacts applies to
 * the whole text. If all rules only flag, all of them fire and the text passes.
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

/** Adds the redactions of one more finding. A finding without matches redacts the whole text. */
const addRedaction = (text: string, spans: readonly Span[], { matches }: Finding, id: GuardrailId): Span[] =>
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

/** A stretch of an original text, in UTF-16 offsets, and its replacement. */
export type Span = { start: number; end: number; text: string }

/** The original with its spans replaced. Spans are in order and do not overlap. */
export function withSpans(original: string, spans: readonly Span[]): string {
  let out = ''
  let at = 0
  for (const { start, end, text } of spans) {
    out += original.slice(at, start) + text
    at = end
  }
  return out + original.slice(at)
}

/** The mark that replaces a redacted part (docs/api.md 12). */
export const markOf = (kind: string): string => `[REDACTED:${kind}]`

/**
 * Adds the spans of `matches`, whose offsets refer to the text after replacing `spans`. A match inside a mark is
 * dropped. A match that overlaps a mark is merged with it.
 */
export function addMatches(original: string, spans: readonly Span[], matches: readonly Match[]): Span[] {
  const added = matches.flatMap((match) => {
    const found = toOriginal(spans, match)
    return found ? [{ ...wholeCharacters(original, found), text: markOf(match.kind) }] : []
  })
  return merged([...spans.map((span) => ({ ...span, old: true })), ...added])
}

/** The offsets of a match in the original text. Null when the match is empty or lies inside a mark. */
function toOriginal(spans: readonly Span[], { start, end }: Match): Omit<Span, 'text'> | null {
  if (start >= end) return null
  let shift = 0
  let from = -1
  let to = -1
  for (const span of spans) {
    const markStart = span.start + shift
    const markEnd = markStart + span.text.length
    if (start >= markStart && end <= markEnd) return null
    if (from < 0 && start < markEnd) from = start < markStart ? start - shift : span.start
    if (to < 0 && end <= markStart) to = end - shift
    if (to < 0 && end < markEnd) to = span.end
    if (from >= 0 && to >= 0) return { start: from, end: to }
    shift += span.text.length - (span.end - span.start)
  }
  return { start: from < 0 ? start - shift : from, end: to < 0 ? end - shift : to }
}

/** Widens a range so that it never splits a surrogate pair. */
function wholeCharacters(text: string, { start, end }: Omit<Span, 'text'>): Omit<Span, 'text'> {
  const splits = (place: number) =>
    place > 0 && place < text.length && /[\udc00-\udfff]/.test(text[place]!) && /[\ud800-\udbff]/.test(text[place - 1]!)
  return { start: splits(start) ? start - 1 : start, end: splits(end) ? end + 1 : end }
}

/** Sorts spans and merges overlapping ones. A merged span has the mark of the newest of them. */
function merged(spans: readonly (Span & { old?: true })[]): Span[] {
  const out: (Span & { old?: true })[] = []
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = out.at(-1)
    if (!last || span.start >= last.end) out.push({ ...span })
    else {
      last.end = Math.max(last.end, span.end)
      if (last.old && !span.old) {
        last.text = span.text
        delete last.old
      }
    }
  }
  return out.map(({ start, end, text }) => ({ start, end, text }))
}

/** Timeout of one rule that works off the event loop, such as in its own process. */
const MAX_MS_A_RULE = 5_000
/** Maximum time that all rules together may occupy the event loop. */
const MAX_MS_ON_LOOP = 10

/**
 * Runs rules over a text in order. Each rule reads the text as redacted by the earlier rules, and the first rule that
 * blocks ends the phase (docs/api.md 12). A rule that throws or times out fails closed: it fires on the whole text.
 * @throws TooSlow when the rules would hold up the event loop, unless `about.patient`
 */
export async function applyRules(rules: readonly CompiledRule[], text: string, about: AboutText): Promise<Outcome> {
  let spans: readonly Span[] = []
  let current = text
  const firings: Firing[] = []
  const doubts: Doubt[] = []
  const inspect = inspectorFor(about)
  for (const [index, rule] of rules.entries()) {
    const unsure = (part: Omit<Doubt, 'index'>) => doubts.push({ index, ...part })
    const finding = await inspect(rule, current, rule.question === undefined ? undefined : unsure)
    if (!finding) continue
    firings.push(firingOf(rule, finding.detail))
    if (rule.verdict === 'block') return { text: current, spans, firings, blocked: blockedBy(rule, finding), doubts }
    if (rule.verdict === 'redact') {
      spans = addRedaction(text, spans, finding, rule.guardrail_id)
      current = withSpans(text, spans)
    }
  }
  return { text: current, spans, firings, blocked: null, doubts }
}

/** `findings` has one entry per rule, in the order of the rules. */
type EveryRule = { outcome: Outcome; findings: readonly (Finding | null)[] }

/** The findings of all rules, including those after a blocking rule, for `POST /guardrail-policies/{id}/evaluate`. */
export async function applyEveryRule(
  rules: readonly CompiledRule[],
  text: string,
  about: AboutText,
): Promise<EveryRule> {
  let outcome = cleanOutcome(text)
  const findings: (Finding | null)[] = []
  const inspect = inspectorFor(about)
  for (const rule of rules) {
    const finding = await inspect(rule, outcome.text)
    findings.push(finding)
    if (finding && rule.verdict === 'redact') {
      const spans = addRedaction(text, outcome.spans, finding, rule.guardrail_id)
      outcome = { ...outcome, spans, text: withSpans(text, spans) }
    }
  }
  return { outcome, findings }
}

/** Runs one rule at a time within the shared time limit. Throws {@link TooSlow} when the time is used up. */
function inspectorFor(about: AboutText) {
  const until = about.patient ? Infinity : performance.now() + MAX_MS_ON_LOOP
  return async ({ inspect }: CompiledRule, text: string, unsure?: AboutText['unsure']): Promise<Finding | null> => {
    if (performance.now() > until) throw new TooSlow()
    try {
      const found = inspect(text, unsure ? { ...about, unsure } : about)
      return found instanceof Promise ? await inTime(found) : found
    } catch (error) {
      if (error instanceof TooSlow) throw error
      // Not logged, because the message may quote the text. The firing reports that the check failed.
      return UNCHECKED
    }
  }
}

async function inTime(found: Promise<Finding | null>): Promise<Finding | null> {
  const { promise: late, resolve } = Promise.withResolvers<Finding>()
  const timer = setTimeout(() => resolve(UNCHECKED), MAX_MS_A_RULE)
  try {
    return await Promise.race([found, late])
  } finally {
    clearTimeout(timer)
  }
}
