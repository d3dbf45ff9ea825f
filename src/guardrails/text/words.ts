import type { View } from '../../kernel/injection/view'
import { viewsOf } from '../../kernel/injection/views'
import { remember } from '../../kernel/remember'
import type { Match } from '../guardrail'
import { endOf } from './plain'

/** A text in small plain letters, look-alikes of other scripts read as meant; see the view of the kernel. */
export type Reading = View & {
  /** The same with figures read as letters; null where that is the same. */
  readonly letters: View | null
  /** UTF-16 offsets in the original of what stands between two offsets here. */
  span(start: number, end: number): Pick<Match, 'start' | 'end'>
}

export const reading = remember((source: string): Reading => {
  const views = viewsOf(source)
  const { text, at } = views.latin ?? views.plain
  return {
    text,
    at,
    span: (start, end) => ({ start: at[start]!, end: endOf(source, at[end - 1]!) }),
    get letters() {
      return views.letters
    },
  }
})
