import type { Span } from './redaction'
import { walkJson } from './walk-json'

/** UTF-16 offsets. */
export type Range = { start: number; end: number }

/** A JSON value as text that rules can read: `name: value` lines. `ranges` has one entry a name, text and number, in the order of {@link walkJson}. */
export type Lines = { text: string; ranges: readonly Range[] }

export function toLines(value: unknown): Lines {
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
 * The value with the parts of its names, texts and numbers that a span covers replaced. `replaced` holds what stands
 * for a whole part, by its place in `ranges`.
 */
export function fromLines(
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
  // Takes the parts in the order in which `walkJson` met them.
  const copy = (part: unknown): unknown => {
    if (typeof part === 'string') return next()
    if (typeof part === 'number') {
      const said = next()
      return said === String(part) ? part : said
    }
    if (Array.isArray(part)) return part.map(copy)
    if (part === null || typeof part !== 'object') return part
    const names = new Set<string>()
    const members = Object.entries(part).map(([, member]) => [freeName(next(), names), copy(member)] as const)
    return Object.fromEntries(members)
  }
  return copy(value)
}

/** The name, with a number where a member before it has it: names that were told apart may be redacted to one. */
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
