import { parseUntrustedJson } from '../kernel/json'
import { base64Runs } from '../text'
import type { AboutText, Finding, Match } from './guardrail'
import { applyEveryRule, applyRules, type Outcome, type Span, withSpans } from './inspection'
import type { CompiledRule } from './policy'

/** Maximum rounds of repeated decoding, and maximum number of decoded forms per text. */
const MAX_ROUNDS = 3

const MAX_FORMS = 8

const fromPercents = (text: string): string | null =>
  text.includes('%')
    ? text.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'))
    : null

const fromEscapes = (text: string): string | null =>
  text.includes('\\')
    ? text.replace(
        /\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2})|([/"'\\]))/gi,
        (_, braced, four, two, sign) => sign ?? characterOf(Number.parseInt(braced ?? four ?? two, 16)),
      )
    : null

const fromReferences = (text: string): string | null =>
  text.includes('&')
    ? text
        .replace(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));?/gi, (_, hex, digits) =>
          characterOf(hex ? Number.parseInt(hex, 16) : Number(digits)),
        )
        .replace(/&(commat|period|colon|sol|hyphen|lowbar|plus);/g, (_, name: string) => SIGNS[name]!)
    : null

/** The named character references that occur in addresses and numbers. */
const SIGNS: Readonly<Record<string, string>> = {
  commat: '@',
  period: '.',
  colon: ':',
  sol: '/',
  hyphen: '-',
  lowbar: '_',
  plus: '+',
}

const characterOf = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd')

/** Control characters and broken UTF-8 show that the decoded bytes are not text. */
const NO_TEXT = /\ufffd|(?!\s)\p{Cc}/u

const DECODERS: readonly ((text: string) => string | null)[] = [
  fromJson,
  fromPercents,
  fromEscapes,
  fromReferences,
  fromBase64,
]

/** UTF-16 offsets. */
type Range = { start: number; end: number }

/**
 * A JSON value as text that rules can read: `name: value` lines. `ranges` has one entry per name, text and number, in
 * the order of {@link walkJson}.
 */
type Lines = { text: string; ranges: readonly Range[] }

/** `text` is the value as rules read it. `doubts` are positions in `text`. */
export type ValueOutcome = Pick<Outcome, 'text' | 'firings' | 'blocked' | 'doubts'> & { value: unknown }

/**
 * Runs rules over a JSON value, such as the arguments of a tool call. The rules read it as `name: value` lines and as
 * JSON after the tool's name. Redaction changes only names, texts and numbers, so the value stays JSON. Arguments are
 * also read in the forms a tool may decode. A finding in a decoded form redacts the text it was decoded from.
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

/** `value` is the value after redaction. `findings` has one entry per rule. */
export type EveryRuleOutcome = { value: unknown; findings: readonly (Finding | null)[] }

/** Like {@link applyRulesToValue}, with the findings of every rule, including those after a rule that blocks. */
export async function applyEveryRuleToValue(
  rules: readonly CompiledRule[],
  value: unknown,
  about: AboutText,
): Promise<EveryRuleOutcome> {
  const reading = readingOf(rules, value, about)
  const { outcome, findings } = await applyEveryRule(reading.rules, reading.text, about)
  return { value: reading.without(outcome.spans), findings }
}

/** A value as text, the rules that read it, and a function that redacts spans in the value. */
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

/** A decoded form of one part of a value, placed after the lines. `of` is the part's index in their `ranges`. */
type Form = Range & { text: string; of: number; source: string }

/** Separates the forms. The character is removed from the forms, so none contains it. */
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

/** The parts with a redacted form. The mark replaces the whole part. */
function redactedForms(forms: readonly Form[], spans: readonly Span[]): ReadonlyMap<number, string> {
  const replaced = new Map<number, string>()
  for (const { of, start, end } of forms) {
    const mark = spans.find((span) => span.start < end && span.end > start)?.text
    if (mark) replaced.set(of, mark)
  }
  return replaced
}

/**
 * Makes a rule read the lines, then their decoded forms, then the JSON. A finding in the JSON alone has no position in
 * the lines, so it applies to the whole value.
 */
const inspectAll =
  ({ inspect }: CompiledRule, forms: readonly Form[], json: string) =>
  async (text: string, about: AboutText): Promise<Finding | null> => {
    const parts = text.split(BEFORE_FORM)
    // If an earlier rule redacted the whole text, the forms are gone as well.
    const plain = parts.length > forms.length ? parts.slice(0, parts.length - forms.length).join(BEFORE_FORM) : text
    const found = await inspect(plain, about)
    if (found && !found.matches.length) return found
    // Doubts are positions in the lines. The forms and the JSON have no such positions.
    const { unsure: _, ...sureOnly } = about
    const behind = plain.length < text.length ? await inspect(text.slice(plain.length), sureOnly) : null
    const inForms = behind && {
      ...behind,
      matches: behind.matches.map((match) => ({
        ...match,
        start: match.start + plain.length,
        end: match.end + plain.length,
      })),
    }
    if (inForms && !inForms.matches.length) return inForms
    const isNew = isUnreported(text, plain, found, forms)
    const all = [...(found?.matches ?? []), ...(inForms?.matches ?? []).filter(isNew)]
    // Omits the count, because several forms of one text may contain the same match.
    if (all.length)
      return { detail: found?.detail ?? `${inForms!.detail.replaceAll(/ \(\d+\)/g, '')}, encoded`, matches: all }
    const inJson = await inspect(json, sureOnly)
    return inJson && { detail: inJson.detail, matches: [] }
  }

/**
 * Whether a match in a form adds a finding. True when the source text does not contain the same characters, or contains
 * them but this rule did not report them and no earlier rule redacted them.
 */
function isUnreported(text: string, plain: string, found: Finding | null, forms: readonly Form[]) {
  const known = new Set(found?.matches.map(({ start, end }) => plain.slice(start, end)))
  return ({ start, end }: Match): boolean => {
    const matched = text.slice(start, end)
    const form = forms[text.slice(plain.length, start).split(BEFORE_FORM).length - 2]
    return !form?.source.includes(matched) || (!known.has(matched) && plain.includes(matched))
  }
}

function toLines(value: unknown): Lines {
  const ranges: Range[] = []
  let text = ''
  const add = (part: string, after: string) => {
    ranges.push({ start: text.length, end: text.length + part.length })
    text += part + after
  }
  walkJson(value, {
    name: (name) => add(name, ': '),
    leaf: (leaf) => add(String(leaf), '\n'),
  })
  return { text, ranges }
}

/**
 * The value with the parts of its names, texts and numbers replaced that a span covers. `replaced` holds replacements
 * of whole parts, by their index in `ranges`.
 */
function fromLines(
  value: unknown,
  { text, ranges }: Lines,
  spans: readonly Span[],
  replaced: ReadonlyMap<number, string>,
): unknown {
  let index = 0
  let first = 0
  const next = (): string => {
    const whole = replaced.get(index)
    const range = ranges[index++]!
    if (whole) return whole
    while (first < spans.length && spans[first]!.end <= range.start) first++
    return redactedPart(text, range, spans.slice(first))
  }
  // Takes the parts in the order in which `walkJson` visited them.
  const copy = (part: unknown): unknown => {
    if (typeof part === 'string') return next()
    if (typeof part === 'number') {
      const text = next()
      return text === String(part) ? part : text
    }
    if (Array.isArray(part)) return part.map(copy)
    if (part === null || typeof part !== 'object') return part
    const names = new Set<string>()
    const members = Object.entries(part).map(([, member]) => [freeName(next(), names), copy(member)] as const)
    return Object.fromEntries(members)
  }
  return copy(value)
}

/** Adds a number to a name that an earlier member already has, because redaction can make different names equal. */
function freeName(name: string, taken: Set<string>): string {
  let free = name
  for (let number = 2; taken.has(free); number++) free = `${name} ${number}`
  taken.add(free)
  return free
}

function redactedPart(text: string, { start, end }: Range, spans: readonly Span[]): string {
  let out = ''
  let at = start
  for (const span of spans) {
    if (span.start >= end) break
    out += text.slice(at, Math.max(at, span.start)) + span.text
    at = Math.min(end, span.end)
  }
  return out + text.slice(at, end)
}

/** Also null for JSON without escapes and exponents, because it reads the same before decoding. */
function fromJson(text: string): string | null {
  if (!/^\s*[[{"]/.test(text) || !/\\|\de[+-]?\d/i.test(text)) return null
  try {
    const parts: string[] = []
    const add = (part: string | number) => parts.push(String(part))
    walkJson(parseUntrustedJson(Buffer.from(text), { large: 'text' }), { name: add, leaf: add })
    return parts.join('\n')
  } catch {
    return null
  }
}

function fromBase64(text: string): string | null {
  const runs = base64Runs(text)
  const texts: string[] = []
  for (let index = 0; index < runs.length; index += 2) {
    const decoded = Buffer.from(text.slice(runs[index], runs[index + 1]).replace(/\s/g, ''), 'base64').toString('utf8')
    if (!NO_TEXT.test(decoded)) texts.push(decoded)
  }
  return texts.length ? texts.join('\n') : null
}

/**
 * The forms a program may get by decoding a text: JSON in a string, percent-encoding, JavaScript escapes, HTML
 * character references and base64, also nested. Excludes the text itself. Empty for most texts.
 */
export function decodedForms(text: string): readonly string[] {
  const forms = new Set<string>([text])
  let last: readonly string[] = [text]
  for (let round = 0; round < MAX_ROUNDS && last.length && forms.size <= MAX_FORMS; round++) {
    last = last
      .flatMap((form) => DECODERS.map((decode) => decode(form)))
      .filter((form) => form !== null && form.trim() !== '' && !forms.has(form)) as string[]
    for (const form of last) forms.add(form)
  }
  return [...forms].slice(1, MAX_FORMS + 1)
}

/** Calls the visitor for every member name, text and number of a JSON value, in document order. */
function walkJson(value: unknown, visitor: { name(name: string): void; leaf(leaf: string | number): void }): void {
  if (typeof value === 'string' || typeof value === 'number') visitor.leaf(value)
  else if (Array.isArray(value)) for (const one of value) walkJson(one, visitor)
  else if (value !== null && typeof value === 'object') {
    for (const [name, member] of Object.entries(value)) {
      visitor.name(name)
      walkJson(member, visitor)
    }
  }
}
