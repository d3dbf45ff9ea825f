import { byLookAlike, toLatin } from './injection/confusables'

/**
 * Latin letters, each with the letters of other scripts that look like it. Mostly capitals, because their lower-case
 * forms often look like another letter or like none, so lower-casing the text first would miss them.
 */
const DRAWN = byLookAlike(`
  AАΑᎪꓮⲀ BВΒᏴꓐⲂ CСϹᏟꓚⲤ DᎠꓓĐÐ EЕΕᎬꓰ FϜꓝ GԌᏀꓖ HНΗᎻꓧⲎĦ IІΙӀᏆꓲⲒ JЈᎫꓙ KКΚᏦꓗⲔ LᏞꓡŁ MМΜᎷꓟⲘ NΝꓠ OОΟՕꓳⲞØ PРΡᏢꓑⲢ
  QԚ RᎡᏒꓣ SЅՏᏚꓢ TТΤᎢꓔⲦŦ UՍꓴ VᏙꓦѴ WԜᎳꓪ XХΧꓫⲬ YΥҮᎩꓬⲨ ZΖᏃꓜ dđ eɛⲉ hħ lłƖ oøⲟ pⲣ tŧ cⲥ yү vѵ mⲙ`)

/** First letters of alphabets that Unicode normalization keeps: negative circled, negative squared, flags. */
const ROWS = [0x1f150, 0x1f170, 0x1f1e6]
for (const row of ROWS) {
  for (let index = 0; index < 26; index++) {
    DRAWN.set(String.fromCodePoint(row + index), String.fromCharCode(65 + index))
  }
}

const OTHERS = /[^\p{ASCII}]/gu
/** Separated flags represent countries. Only adjacent flags may spell a word. */
const LISTED_FLAGS = /(\p{RI}{2})[^\p{L}\p{N}\p{RI}]+(?=\p{RI}{2})/gu

/** Replaces every letter with the Latin letter it looks like. Capitals stay capitals. */
export const asDrawn = (text: string): string =>
  text.replace(LISTED_FLAGS, '$1 #### ').replace(OTHERS, (letter) => {
    const small = letter.toLowerCase()
    const plain = toLatin(letter) ?? toLatin(small)
    return DRAWN.get(letter) ?? (letter === small ? plain : plain?.toUpperCase()) ?? letter
  })

/** Placeholder for an I, an l or a 1, which look the same. */
export const STROKE = 'ǀ'

const WORD = /[\p{L}\p{N}|]+/gu
/** Matches words with a lower-case letter. In mixed-case words, a capital I may be l, and an l after a capital I. */
const MIXED = /\p{Ll}/u
const STROKES = /(?<=\p{L})[I1|]|[I1|](?=\p{L})|(?<=\p{Lu})l(?!\p{Ll})/gu
const ONES = /(?<=\p{L})[1|]|[1|](?=\p{L})|(?<=\p{Lu})l(?!\p{Ll})/gu

/** Replaces every character that may be read as I or as l with {@link STROKE}. */
export const withStrokes = (text: string): string =>
  text.replace(WORD, (word) => word.replace(MIXED.test(word) && /\p{L}I|II/u.test(word) ? STROKES : ONES, STROKE))
