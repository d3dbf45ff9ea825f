import { type AboutText, type Finding, type GuardrailId, type Match, TooSlow, type Verdict } from './guardrail'
import { type CompiledRule, messageOf } from './policy'
import type { Firing } from './schema'

/** What the rules of one phase made of one text (docs/api.md 12). */
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
type Doubt = { index: number; start: number; end: number }

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

/** A stretch of an original text, in UTF-16 offsets, and the text that takes its place. */
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

/** What stands for a redacted part (docs/api.md 12). */
export const markOf = (kind: string): string => `[REDACTED:${kind}]`

/**
 * The spans with those of `matches`, whose offsets are in the text as it reads with `spans` replaced. A match inside a
 * mark is dropped; one that overlaps a mark is merged with it.
 */
export function addMatches(original: string, spans: readonly Span[], matches: readonly Match[]): Span[] {
  const added = matches.flatMap((match) => {
    const found = toOriginal(spans, match)
    return found ? [{ ...wholeCharacters(original, found), text: markOf(match.kind) }] : []
  })
  return merged([...spans.map((span) => ({ ...span, old: true })), ...added])
}

/** The offsets of a match in the original text; null when it is empty or lies inside a mark. */
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

/** Widened so that it never splits a surrogate pair. */
function wholeCharacters(text: string, { start, end }: Omit<Span, 'text'>): Omit<Span, 'text'> {
  const splits = (place: number) =>
    place > 0 && place < text.length && /[\udc00-\udfff]/.test(text[place]!) && /[\ud800-\udbff]/.test(text[place - 1]!)
  return { start: splits(start) ? start - 1 : start, end: splits(end) ? end + 1 : end }
}

/** In order, with overlapping spans merged; a merged span bears the mark of the newest of them. */
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

/** How long one rule may take that works off the event loop, such as one in a process of its own. */
const MAX_MS_A_RULE = 5_000
/** How long all rules together may hold the event loop. */
const MAX_MS_ON_LOOP = 10

/**
 * Runs rules over a text in their order. Each reads what those before it left of it, and the first that blocks ends
 * the phase (docs/api.md 12). A rule that throws or takes too long fails closed: it fires on the whole text.
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

/** `findings` has one entry a rule, in the order of the rules. */
type EveryRule = { outcome: Outcome; findings: readonly (Finding | null)[] }

/** What every rule finds, also behind one that blocks: for `POST /guardrail-policies/{id}/evaluate`. */
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

/** Runs one rule after the other, within the time that all of them have. Throws {@link TooSlow} when it is used up. */
function inspectorFor(about: AboutText) {
  const until = about.patient ? Infinity : performance.now() + MAX_MS_ON_LOOP
  return async ({ inspect }: CompiledRule, text: string, unsure?: AboutText['unsure']): Promise<Finding | null> => {
    if (performance.now() > until) throw new TooSlow()
    try {
      const found = inspect(text, unsure ? { ...about, unsure } : about)
      return found instanceof Promise ? await inTime(found) : found
    } catch (error) {
      if (error instanceof TooSlow) throw error
      // The message may quote the text, so it is not logged. The firing says that the check failed.
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
