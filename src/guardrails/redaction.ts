import type { Match } from './guardrail'

/** A stretch of an original text, in UTF-16 units, and what stands in its place. */
export type Span = { start: number; end: number; text: string }

/** The original with its spans replaced. Spans are in order and apart. */
export function withSpans(original: string, spans: readonly Span[]): string {
  let out = ''
  let at = 0
  for (const { start, end, text } of spans) {
    out += original.slice(at, start) + text
    at = end
  }
  return out + original.slice(at)
}

export const markOf = (kind: string): string => `[REDACTED:${kind}]`

/**
 * Adds what was found in the text as it reads with `spans` replaced. What lies within a mark that stands there
 * already is left; what reaches into one takes it in.
 */
export function addMatches(original: string, spans: readonly Span[], matches: readonly Match[]): Span[] {
  const added = matches.flatMap((match) => {
    const found = toOriginal(spans, match)
    return found ? [{ ...wholeLetters(original, found), text: markOf(match.kind) }] : []
  })
  return merged([...spans.map((span) => ({ ...span, old: true })), ...added])
}

/** Where a stretch of the redacted text lies in the original; null within a mark, and for an empty one. */
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

/** Never half of a surrogate pair. */
function wholeLetters(text: string, { start, end }: Omit<Span, 'text'>): Omit<Span, 'text'> {
  const splits = (place: number) =>
    place > 0 && place < text.length && /[\udc00-\udfff]/.test(text[place]!) && /[\ud800-\udbff]/.test(text[place - 1]!)
  return { start: splits(start) ? start - 1 : start, end: splits(end) ? end + 1 : end }
}

/** In order and apart: of those that overlap, one stays, over all they cover, named by the newest of them. */
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
