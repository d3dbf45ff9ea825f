import { decodedForms } from './decoded'
import type { Finding, Inspected, Match } from './guardrail'
import { type Judgement, judge, judgeEach } from './judge'
import type { Rule } from './policy'
import { type Span, withSpans } from './redaction'
import { visit } from './visit'

/** `text` is how rules read the value, `doubts` are places in it. */
export type ValueJudgement = Pick<Judgement, 'text' | 'firings' | 'blocked' | 'doubts'> & { value: unknown }

/**
 * The same for a value of JSON, such as the arguments of a call: rules read it line by line, `name: value`, and
 * as JSON after the tool's name. What is redacted goes out of the texts and numbers in it, so that it stays JSON.
 * Arguments are read as a tool may decode them, too: what only a decoded form holds takes the whole text with it.
 */
export async function judgeValue(rules: readonly Rule[], value: unknown, about: Inspected): Promise<ValueJudgement> {
  const { wide, text, left } = readingOf(rules, value, about)
  const { spans, ...judged } = await judge(wide, text, about)
  return { ...judged, value: left(spans) }
}

/** What every rule says of a value or a text, whatever those before it said, and what is left of it. */
export type EachJudgement = { value: unknown; results: readonly (Finding | null)[] }

/** As {@link judgeValue}, for whoever tries a policy out. */
export async function judgeEachOf(rules: readonly Rule[], value: unknown, about: Inspected): Promise<EachJudgement> {
  const { wide, text, left } = readingOf(rules, value, about)
  const { judgement, results } = await judgeEach(wide, text, about)
  return { value: left(judgement.spans), results }
}

/** How rules read a value, and what is left of it without what they find there. */
type Reading = { wide: readonly Rule[]; text: string; left(spans: readonly Span[]): unknown }

function readingOf(rules: readonly Rule[], value: unknown, { phase, tool }: Inspected): Reading {
  const isCall = phase === 'tool_call'
  if (typeof value === 'string' && !isCall) {
    return { wide: rules, text: value, left: (spans) => withSpans(value, spans) }
  }
  const lines = toLines(value)
  const forms = isCall ? formsOf(lines) : []
  const json = `${tool?.name ?? ''} ${JSON.stringify(value) ?? 'null'}`
  return {
    wide: rules.map((rule) => ({ ...rule, inspect: inAll(rule, forms, json) })),
    text: lines.text + forms.map(({ text }) => BEFORE_FORM + text).join(''),
    left: (spans) => (spans.length ? rebuilt(value, lines, forms, spans) : value),
  }
}

/** What a text in a value is when it is decoded, where that stands behind the lines, and as which of these it stands in them. */
type Form = Range & { text: string; of: number; source: string }

/** Stands in no form. */
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

/**
 * A rule over the lines, over their decoded forms, and over the JSON. What is only to be seen in the JSON has no place
 * in the lines: there the whole is meant.
 */
const inAll =
  ({ inspect }: Rule, forms: readonly Form[], json: string) =>
  async (text: string, about: Inspected): Promise<Finding | null> => {
    const parts = text.split(BEFORE_FORM)
    // A mark over the whole has taken the forms with it.
    const plain = parts.length > forms.length ? parts.slice(0, parts.length - forms.length).join(BEFORE_FORM) : text
    const found = await inspect(plain, about)
    if (found && !found.matches.length) return found
    const { unsure: _, ...again } = about
    const behind = plain.length < text.length ? await inspect(text.slice(plain.length), again) : null
    const hidden = behind && { ...behind, matches: behind.matches.map((match) => shifted(match, plain.length)) }
    if (hidden && !hidden.matches.length) return hidden
    const all = [...(found?.matches ?? []), ...(hidden?.matches ?? []).filter(isNews(text, plain, found, forms))]
    if (all.length) return { detail: found?.detail ?? encoded(hidden!.detail), matches: all }
    const inJson = await inspect(json, again)
    return inJson && { detail: inJson.detail, matches: [] }
  }

/** The same may be read in several forms of a text, so nobody knows how many there were. */
const encoded = (detail: string): string => `${detail.replaceAll(/ \(\d+\)/g, '')}, encoded`

const shifted = (match: Match, by: number): Match => ({ ...match, start: match.start + by, end: match.end + by })

/** Not where the text that a form was made of says the same as it stands, and was found or taken out there. */
function isNews(text: string, plain: string, found: Finding | null, forms: readonly Form[]) {
  const known = new Set(found?.matches.map(({ start, end }) => plain.slice(start, end)))
  return ({ start, end }: Match): boolean => {
    const said = text.slice(start, end)
    const form = forms[text.slice(plain.length, start).split(BEFORE_FORM).length - 2]
    return !form?.source.includes(said) || (!known.has(said) && plain.includes(said))
  }
}

type Range = { start: number; end: number }

/** Every name, text and number of a value on lines, and where each stands, in the order they are met. */
type Lines = { text: string; ranges: readonly Range[] }

function toLines(value: unknown): Lines {
  const ranges: Range[] = []
  let text = ''
  const add = (part: string, after: string) => {
    ranges.push({ start: text.length, end: text.length + part.length })
    text += part + after
  }
  visit(value, {
    name: (name) => add(name, ': '),
    leaf: (leaf) => add(String(leaf), '\n'),
  })
  return { text, ranges }
}

/** The value with every stretch of its names, texts and numbers that a span covers replaced. Same order as `visit`. */
function rebuilt(value: unknown, { text, ranges }: Lines, forms: readonly Form[], spans: readonly Span[]): unknown {
  const replaced = new Map(forms.map((form) => [form.of, markIn(form, spans)] as const).filter(([, mark]) => mark))
  let place = 0
  let first = 0
  const next = (): string => {
    const mark = replaced.get(place)
    const range = ranges[place++]!
    if (mark) return mark
    while (first < spans.length && spans[first]!.end <= range.start) first++
    return within(text, range, spans.slice(first))
  }
  const copy = (part: unknown): unknown => {
    if (typeof part === 'string') return next()
    if (typeof part === 'number') {
      const said = next()
      return said === String(part) ? part : said
    }
    if (Array.isArray(part)) return part.map(copy)
    if (part === null || typeof part !== 'object') return part
    const members = Object.entries(part).map(([, member]) => [next(), copy(member)] as const)
    return Object.fromEntries(members)
  }
  return copy(value)
}

/** What stands for a form that a span reaches into. */
const markIn = ({ start, end }: Range, spans: readonly Span[]): string | undefined =>
  spans.find((span) => span.start < end && span.end > start)?.text

function within(text: string, { start, end }: Range, spans: readonly Span[]): string {
  let out = ''
  let at = start
  for (const span of spans) {
    if (span.start >= end) break
    out += text.slice(at, Math.max(at, span.start)) + span.text
    at = Math.min(end, span.end)
  }
  return out + text.slice(at, end)
}
