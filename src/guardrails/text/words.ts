import type { View } from '../../kernel/injection/view'
import { type Views, viewsOf } from '../../kernel/injection/views'
import type { Match } from '../guardrail'
import { endOf } from './plain'

/** Good until the next text is read. A text in small plain letters, look-alikes of other scripts read as meant; see the view of the kernel. */
export type Reading = View & {
  /** The same with figures read as letters; null where that is the same. */
  readonly letters: View | null
  /** UTF-16 offsets in the original of what stands between two offsets here. */
  span(start: number, end: number): Pick<Match, 'start' | 'end'>
}

export function reading(source: string): Reading {
  const views = viewsOf(source)
  if (last?.views !== views) last = { views, reading: readingOf(source, views) }
  return last.reading
}

/** It goes with the views it is of: these are made anew when a text comes again after another. */
let last: { views: Views; reading: Reading } | undefined

function readingOf(source: string, views: Views): Reading {
  const { text, at } = views.latin ?? views.plain
  return {
    text,
    at,
    span: (start, end) => ({ start: at[start]!, end: endOf(source, at[end - 1]!) }),
    get letters() {
      return views.letters
    },
  }
}
