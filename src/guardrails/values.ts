import type { Finding, Inspected } from './guardrail'
import { type Judgement, judge, judgeEach } from './judge'
import type { Rule } from './policy'
import type { Span } from './redaction'

/** `text` is how rules read the value, `doubts` are places in it. */
export type ValueJudgement = Pick<Judgement, 'text' | 'firings' | 'blocked' | 'doubts'> & { value: unknown }

/**
 * The same for a value of JSON, such as the arguments of a call: rules read it line by line, `name: value`, and
 * as JSON after the tool's name. What is redacted goes out of the texts and numbers in it, so that it stays JSON.
 */
export async function judgeValue(rules: readonly Rule[], value: unknown, about: Inspected): Promise<ValueJudgement> {
  if (typeof value === 'string') {
    const { spans: _, ...judged } = await judge(rules, value, about)
    return { ...judged, value: judged.text }
  }
  const { text, ranges } = toLines(value)
  const { spans, ...judged } = await judge(wide(rules, value, about), text, about)
  return { ...judged, value: spans.length ? rebuilt(value, text, ranges, spans) : value }
}

/** What every rule says of a value or a text, whatever those before it said, and what is left of it. */
export type EachJudgement = { value: unknown; results: readonly (Finding | null)[] }

/** As {@link judgeValue}, for whoever tries a policy out. */
export async function judgeEachOf(rules: readonly Rule[], value: unknown, about: Inspected): Promise<EachJudgement> {
  if (typeof value === 'string') {
    const { judgement, results } = await judgeEach(rules, value, about)
    return { value: judgement.text, results }
  }
  const { text, ranges } = toLines(value)
  const { judgement, results } = await judgeEach(wide(rules, value, about), text, about)
  const { spans } = judgement
  return { value: spans.length ? rebuilt(value, text, ranges, spans) : value, results }
}

function wide(rules: readonly Rule[], value: unknown, { tool }: Inspected): Rule[] {
  const json = `${tool?.name ?? ''} ${JSON.stringify(value) ?? 'null'}`
  return rules.map((rule) => ({ ...rule, inspect: inBoth(rule, json) }))
}

/** What is only to be seen in the JSON has no place in the lines: there the whole is meant. */
const inBoth =
  ({ inspect }: Rule, json: string) =>
  async (lines: string, about: Inspected): Promise<Finding | null> => {
    const found = await inspect(lines, about)
    if (found) return found
    const { unsure: _, ...plainly } = about
    const inJson = await inspect(json, plainly)
    return inJson && { detail: inJson.detail, matches: [] }
  }

type Range = { start: number; end: number }

/** Every name, text and number of a value on lines, and where each stands, in the order they are met. */
function toLines(value: unknown): { text: string; ranges: Range[] } {
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

type Visitor = { name(name: string): void; leaf(leaf: string | number): void }

function visit(value: unknown, visitor: Visitor): void {
  if (typeof value === 'string' || typeof value === 'number') visitor.leaf(value)
  else if (Array.isArray(value)) for (const one of value) visit(one, visitor)
  else if (value !== null && typeof value === 'object') {
    for (const [name, member] of Object.entries(value)) {
      visitor.name(name)
      visit(member, visitor)
    }
  }
}

/** The value with every stretch of its names, texts and numbers that a span covers replaced. Same order as {@link visit}. */
function rebuilt(value: unknown, text: string, ranges: readonly Range[], spans: readonly Span[]): unknown {
  let place = 0
  let first = 0
  const next = (): string => {
    const range = ranges[place++]!
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
