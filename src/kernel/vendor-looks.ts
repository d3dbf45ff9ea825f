import { toLatin } from './injection/confusables'

/** Capitals of other scripts by the Latin one they look like: their small letters often look like another, or none. */
const CAPITALS: Readonly<Record<string, string>> = {
  A: 'АΑᎪꓮⲀ',
  B: 'ВΒᏴꓐⲂ',
  C: 'СϹᏟꓚⲤ',
  D: 'ᎠꓓĐÐ',
  E: 'ЕΕᎬꓰ',
  F: 'Ϝꓝ',
  G: 'ԌᏀꓖ',
  H: 'НΗᎻꓧⲎĦ',
  I: 'ІΙӀᏆꓲⲒ',
  J: 'ЈᎫꓙ',
  K: 'КΚᏦꓗⲔ',
  L: 'ᏞꓡŁ',
  M: 'МΜᎷꓟⲘ',
  N: 'Νꓠ',
  O: 'ОΟՕꓳⲞØ',
  P: 'РΡᏢꓑⲢ',
  Q: 'Ԛ',
  R: 'ᎡᏒꓣ',
  S: 'ЅՏᏚꓢ',
  T: 'ТΤᎢꓔⲦŦ',
  U: 'Սꓴ',
  V: 'ᏙꓦѴ',
  W: 'ԜᎳꓪ',
  X: 'ХΧꓫⲬ',
  Y: 'ΥҮᎩꓬⲨ',
  Z: 'ΖᏃꓜ',
  d: 'đ',
  e: 'ɛⲉ',
  h: 'ħ',
  l: 'łƖ',
  o: 'øⲟ',
  p: 'ⲣ',
  t: 'ŧ',
  c: 'ⲥ',
  y: 'ү',
  v: 'ѵ',
  m: 'ⲙ',
}
const DRAWN = new Map(Object.entries(CAPITALS).flatMap(([latin, letters]) => [...letters].map((one) => [one, latin])))

/** Rows of the alphabet that no normal form takes back to letters: white in a circle, white in a square, flags. */
const ROWS = [0x1f150, 0x1f170, 0x1f1e6]
for (const row of ROWS) {
  for (let place = 0; place < 26; place++) {
    DRAWN.set(String.fromCodePoint(row + place), String.fromCharCode(65 + place))
  }
}

const OTHERS = /[^\p{ASCII}]/gu
/** Flags in a list are countries; letters are drawn with flags side by side. */
const LISTED_FLAGS = /(\p{RI}{2})[^\p{L}\p{N}\p{RI}]+(?=\p{RI}{2})/gu

/** Every letter as the Latin one it looks like, large where it was. */
export const asDrawn = (text: string): string =>
  text.replace(LISTED_FLAGS, '$1 #### ').replace(OTHERS, (letter) => {
    const small = letter.toLowerCase()
    const plain = toLatin(letter) ?? toLatin(small)
    return DRAWN.get(letter) ?? (letter === small ? plain : plain?.toUpperCase()) ?? letter
  })

/** Stands for what may be an I, an l or a 1: nobody can tell by looking. */
export const STROKE = 'ǀ'

const WORD = /[\p{L}\p{N}|]+/gu
/** Where a word mixes cases, a large I further in may be an l, and a small l among large letters an I. */
const MIXED = /\p{Ll}/u
const STROKES = /(?<=\p{L})[I1|]|[I1|](?=\p{L})|(?<=\p{Lu})l(?!\p{Ll})/gu
const ONES = /(?<=\p{L})[1|]|[1|](?=\p{L})|(?<=\p{Lu})l(?!\p{Ll})/gu

export const withStrokes = (text: string): string =>
  text.replace(WORD, (word) => word.replace(MIXED.test(word) && /\p{L}I|II/u.test(word) ? STROKES : ONES, STROKE))
