import type { Match } from './guardrail'

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

/** What stands for a redacted part (contract 12). */
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
