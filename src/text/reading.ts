import type { View } from './injection/view'
import { type Views, viewsOf } from './injection/views'
import { endOf } from './plain'
import type { Match } from './schema'

/** A text in lower case without accents, look-alike letters made Latin. Valid until the next text is read. */
export type Reading = View & {
  /** The text with digits read as letters, too; null where that changes nothing. */
  readonly letters: View | null
  /** UTF-16 offsets in the original of the stretch between two offsets of this text. */
  span(start: number, end: number): Pick<Match, 'start' | 'end'>
}

/** Reads a text as people wrote it; cached for the last one. */
export function reading(source: string): Reading {
  const views = viewsOf(source)
  if (last?.views !== views) last = { views, reading: readingOf(source, views) }
  return last.reading
}

/** The last reading, valid as long as its views are: these are made again once another text was read in between. */
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
