import type { View } from './injection/view'
import { type Views, viewsOf } from './injection/views'
import { endOf } from './plain'
import type { Match } from './schema'

/** A text in lower case without accents, with look-alike letters made Latin. Valid until the next text is read. */
export type Reading = View & {
  /** The text with digits also read as letters. Null if that changes nothing. */
  readonly letters: View | null
  /** The original UTF-16 offsets of a range of this text. */
  span(start: number, end: number): Pick<Match, 'start' | 'end'>
}

/** Reads a text as people write it. Cached for the last text. */
export function reading(source: string): Reading {
  const views = viewsOf(source)
  if (last?.views !== views) last = { views, reading: readingOf(source, views) }
  return last.reading
}

/** The last reading, valid as long as its views are. The views are recreated after another text was read. */
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
