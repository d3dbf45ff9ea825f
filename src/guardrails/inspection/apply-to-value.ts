import type { AboutText, Finding, Match } from '../guardrail'
import type { CompiledRule } from '../policy/compile-rule'
import { applyEveryRule, applyRules } from './apply-rules'
import { decodedForms } from './decoded-forms'
import type { Outcome } from './outcome'
import { type Span, withSpans } from './redaction'
import { fromLines, type Lines, type Range, toLines } from './value-lines'

/** `text` is the value as rules read it, and `doubts` are places in that. */
export type ValueOutcome = Pick<Outcome, 'text' | 'firings' | 'blocked' | 'doubts'> & { value: unknown }

/**
 * Runs rules over a JSON value, such as the arguments of a tool call. They read it as `name: value` lines and as JSON
 * after the tool's name. What is redacted leaves the names, texts and numbers in the value, so it stays JSON.
 * Arguments are read as the tool may decode them, too: what only a decoded form holds redacts the text it came from.
 */
export async function applyRulesToValue(
  rules: readonly CompiledRule[],
  value: unknown,
  about: AboutText,
): Promise<ValueOutcome> {
  const reading = readingOf(rules, value, about)
  const { spans, ...outcome } = await applyRules(reading.rules, reading.text, about)
  return { ...outcome, value: reading.without(spans) }
}

/** `value` is what redacting rules left; `findings` has one entry a rule. */
export type EveryRuleOutcome = { value: unknown; findings: readonly (Finding | null)[] }

/** As {@link applyRulesToValue}, with what every rule finds, also behind one that blocks. */
export async function applyEveryRuleToValue(
  rules: readonly CompiledRule[],
  value: unknown,
  about: AboutText,
): Promise<EveryRuleOutcome> {
  const reading = readingOf(rules, value, about)
  const { outcome, findings } = await applyEveryRule(reading.rules, reading.text, about)
  return { value: reading.without(outcome.spans), findings }
}

/** A value as text, the rules as they read that text, and the value without what they redact in it. */
type Reading = { rules: readonly CompiledRule[]; text: string; without(spans: readonly Span[]): unknown }

function readingOf(rules: readonly CompiledRule[], value: unknown, { phase, tool }: AboutText): Reading {
  const isCall = phase === 'tool_call'
  if (typeof value === 'string' && !isCall) {
    return { rules, text: value, without: (spans) => withSpans(value, spans) }
  }
  const lines = toLines(value)
  const forms = isCall ? formsOf(lines) : []
  const json = `${tool?.name ?? ''} ${JSON.stringify(value) ?? 'null'}`
  return {
    rules: rules.map((rule) => ({ ...rule, inspect: inspectAll(rule, forms, json) })),
    text: lines.text + forms.map(({ text }) => BEFORE_FORM + text).join(''),
    without: (spans) => (spans.length ? fromLines(value, lines, spans, redactedForms(forms, spans)) : value),
  }
}

/** A decoded form of one part of a value. It stands behind the lines; `of` is the part's place in their `ranges`. */
type Form = Range & { text: string; of: number; source: string }

/** Separates the forms; it is taken out of them, so it stands in none. */
const BEFORE_FORM = '\n\u0003\n'

function formsOf({ text, ranges }: Lines): Form[] {
  let at = text.length
  return ranges.flatMap(({ start, end }, of) => {
    const source = text.slice(start, end)
    return decodedForms(source).map((form) => {
      const clean = form.replaceAll('\u0003', ' ')
      const begin = at + BEFORE_FORM.length
      at = begin + clean.length
      return { start: begin, end: at, text: clean, of, source }
    })
  })
}

/** The parts of which a form was redacted: their mark takes the place of the whole part. */
function redactedForms(forms: readonly Form[], spans: readonly Span[]): ReadonlyMap<number, string> {
  const replaced = new Map<number, string>()
  for (const { of, start, end } of forms) {
    const mark = spans.find((span) => span.start < end && span.end > start)?.text
    if (mark) replaced.set(of, mark)
  }
  return replaced
}

/**
 * A rule that reads the lines, then their decoded forms, then the JSON. What is found in the JSON alone has no place
 * in the lines, so the finding means the whole value.
 */
const inspectAll =
  ({ inspect }: CompiledRule, forms: readonly Form[], json: string) =>
  async (text: string, about: AboutText): Promise<Finding | null> => {
    const parts = text.split(BEFORE_FORM)
    // A redaction of the whole text by an earlier rule has taken the forms with it.
    const plain = parts.length > forms.length ? parts.slice(0, parts.length - forms.length).join(BEFORE_FORM) : text
    const found = await inspect(plain, about)
    if (found && !found.matches.length) return found
    // Doubts are places in the lines; the forms and the JSON have none there.
    const { unsure: _, ...sureOnly } = about
    const behind = plain.length < text.length ? await inspect(text.slice(plain.length), sureOnly) : null
    const inForms = behind && { ...behind, matches: behind.matches.map((match) => shifted(match, plain.length)) }
    if (inForms && !inForms.matches.length) return inForms
    const isNew = isUnreported(text, plain, found, forms)
    const all = [...(found?.matches ?? []), ...(inForms?.matches ?? []).filter(isNew)]
    if (all.length) return { detail: found?.detail ?? encoded(inForms!.detail), matches: all }
    const inJson = await inspect(json, sureOnly)
    return inJson && { detail: inJson.detail, matches: [] }
  }

/** Without the count: the same thing may be read in several forms of one text. */
const encoded = (detail: string): string => `${detail.replaceAll(/ \(\d+\)/g, '')}, encoded`

const shifted = (match: Match, by: number): Match => ({ ...match, start: match.start + by, end: match.end + by })

/**
 * Whether a match in a form adds anything: the text it was decoded from does not hold the same as it stands, or does
 * and neither this rule reported it there nor an earlier one redacted it.
 */
function isUnreported(text: string, plain: string, found: Finding | null, forms: readonly Form[]) {
  const known = new Set(found?.matches.map(({ start, end }) => plain.slice(start, end)))
  return ({ start, end }: Match): boolean => {
    const said = text.slice(start, end)
    const form = forms[text.slice(plain.length, start).split(BEFORE_FORM).length - 2]
    return !form?.source.includes(said) || (!known.has(said) && plain.includes(said))
  }
}
