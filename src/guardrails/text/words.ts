import type { View } from '../../kernel/injection/view'
import { viewsOf } from '../../kernel/injection/views'
import { remember } from '../../kernel/remember'
import type { Match } from '../guardrail'
import { endOf } from './plain'

/** A text in small plain letters, look-alikes of other scripts read as meant; see the view of the kernel. */
export type Reading = View & {
  /** UTF-16 offsets in the original of what stands between two offsets here. */
  span(start: number, end: number): Pick<Match, 'start' | 'end'>
}

export const reading = remember((source: string): Reading => {
  const { plain, latin } = viewsOf(source)
  return withSpan(latin ?? plain, source)
})

export const withSpan = (view: View, source: string): Reading => ({
  ...view,
  span: (start, end) => ({ start: view.at[start]!, end: endOf(source, view.at[end - 1]!) }),
})
