import type { Place } from '../personal-data/kind'
import { findUrls } from './find'
import { isFilled, viewsOf } from './views'

/** Where a text, however it is escaped or disguised, holds URLs of hosts other than those that `isAllowed` accepts. */
export function urlsBut(text: string, isAllowed: (host: string) => boolean): Place[] {
  const foreign = viewsOf(text).flatMap((view) =>
    findUrls(view.text).flatMap(({ start, end, host }) => {
      const place = view.span(start, end)
      return isAllowed(host) && !isFilled(text, place.end) ? [] : [place]
    }),
  )
  return merged(foreign)
}

/** Sorted and merged: several views find the same address, and one may stand in another's query. */
function merged(places: readonly Place[]): Place[] {
  const kept: Place[] = []
  for (const { start, end } of places.toSorted((a, b) => a.start - b.start)) {
    const last = kept.at(-1)
    if (!last || last.end <= start) kept.push({ start, end })
    else last.end = Math.max(last.end, end)
  }
  return kept
}
