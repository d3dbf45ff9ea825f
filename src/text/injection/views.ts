import { remember } from '../runs'
import { offsetsFor, readable } from './readable'
import { latinized, type Rewritten, unleeted, type View } from './view'

/** A text made readable, then with look-alikes in Latin, then with digits read as letters. Null if nothing changes. */
export type Views = { plain: View; latin: Rewritten | null; letters: Rewritten | null }

export const viewsIn = (source: string): Views => viewsFrom(readable(source))

function viewsFrom(plain: View): Views {
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

/** Scratch buffer for the offsets of the current text, reused between texts. */
let offsets = new Int32Array(1 << 13)

/** Cached for the last text, because several checks read the same one in a row. Valid until the next text is read. */
export const viewsOf = remember((source: string): Views => {
  if (offsets.length < offsetsFor(source)) offsets = new Int32Array(offsetsFor(source))
  return viewsFrom(readable(source, offsets))
})
