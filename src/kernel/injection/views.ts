import { remember } from '../remember'
import { placesFor, readable } from './readable'
import { latinized, type Rewritten, unleeted, type View } from './view'

/** A text as it is read, as its look-alikes are meant, and as its figures are; null where that is the same. */
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

/** Room for the places of the text that is looked at, kept from text to text. */
let places = new Int32Array(1 << 13)

/** Whoever looks at the same text one after another shares them; where they stood is known until the next is read. */
export const viewsOf = remember((source: string): Views => {
  if (places.length < placesFor(source)) places = new Int32Array(placesFor(source))
  return viewsFrom(readable(source, places))
})
