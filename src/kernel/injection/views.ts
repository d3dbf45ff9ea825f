import { remember } from '../remember'
import { readable } from './readable'
import { latinized, type Rewritten, unleeted, type View } from './view'

/** A text as it is read, as its look-alikes are meant, and as its figures are; null where that is the same. */
export type Views = { plain: View; latin: Rewritten | null; letters: Rewritten | null }

export function viewsIn(source: string): Views {
  const plain = readable(source)
  const latin = latinized(plain)
  let letters: Rewritten | null | undefined
  return {
    plain,
    latin,
    get letters() {
      if (letters === undefined) letters = unleeted(latin ?? plain)
      return letters
    },
  }
}

/** Whoever looks at the same text one after another shares them. */
export const viewsOf = remember(viewsIn)
