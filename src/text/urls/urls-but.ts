import type { TextSpan } from '../span'
import { findUrls } from './find'
import { isFilled, viewsOf } from './views'

/** Where a text, however it is escaped or disguised, holds URLs of hosts other than those that `isAllowed` accepts. */
export function urlsBut(text: string, isAllowed: (host: string) => boolean): TextSpan[] {
  const foreign = viewsOf(text).flatMap((view) =>
    findUrls(view.text).flatMap(({ start, end, host }) => {
      const covered = view.span(start, end)
      return isAllowed(host) && !isFilled(text, covered.end) ? [] : [covered]
    }),
  )
  return merged(foreign)
}

/** Sorted and merged: several views find the same address, and one may stand in another's query. */
function merged(spans: readonly TextSpan[]): TextSpan[] {
  const kept: TextSpan[] = []
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    const last = kept.at(-1)
    if (!last || last.end <= start) kept.push({ start, end })
    else last.end = Math.max(last.end, end)
  }
  return kept
}
