import { fontOf } from '../../fonts'
import { type Block, flatBlocks, plain, type Table, type Text } from '../blocks-model'
import { readNumber } from '../charts'
import { FONTS } from './fonts'

/** In characters: the minimum width of a column, and the length above which more text does not widen it. */
const NARROWEST = 4

const WIDEST = 42

/** Number of rows that are measured. */
const MEASURED = 200

/** Font sizes in points, preferred first, the padding of a cell in points, and a factor for wider letters. */
type Sizes = { sizes: readonly number[]; padding: number; wider?: number }
export type Fit = { fontSize: number; padding: number; widths: number[] }

/** In ems. Longer words, such as addresses, may break. */
const LONGEST = 20

/** The preferred font size by the number of columns. */
const usualOf = (columns: number): number => (columns > 8 ? 7 : columns > 5 ? 8.5 : 9.5)
const paddingOf = (columns: number): number => (columns > 8 ? 4 : 6)
/** The reader of an Office file may lack its font, and a substitute may have wider letters. */
export const OTHER_FONT = 1.3

/** Fallback font sizes. Anything smaller is not readable on paper. */
export const SMALLER = [9, 8.5, 8, 7.5, 7, 6.5, 6, 5.5, 5]

/** Whether every table fits a portrait page at its preferred size without breaking words or numbers. */
export const fitsUpright = (blocks: readonly Block[], width: number): boolean =>
  flatBlocks(blocks).every((table) => {
    if (table.type !== 'table') return true
    const columns = table.header.length
    return fit(table, width, { sizes: [usualOf(columns)], padding: paddingOf(columns) }) !== null
  })

/** Sizes for a table on a page of 210 × 297 mm. */
export const ofPage = ({ header: { length } }: Table): Sizes => ({
  sizes: [usualOf(length), ...SMALLER],
  padding: paddingOf(length),
})

/** Fits a table with the largest letters at which no word or number breaks. If there are none, words may break. */
export function fitAny(table: Table, width: number, sizes: Sizes = ofPage(table)): Fit {
  const { padding } = sizes
  const found = fit(table, width, sizes) ?? fit(table, width, { ...sizes, wider: 1 })
  if (found) return found
  const room = width - table.header.length * 2 * padding
  return { fontSize: 7, padding, widths: columnShares(table).map((share) => share * room) }
}

function fit(table: Table, width: number, { sizes, padding, wider = 1 }: Sizes): Fit | null {
  const room = width - table.header.length * 2 * padding
  // In ems: the widest word or number of each column.
  const min = table.header
    .map((name, at) => Math.max(1, wordsIn(name), ...table.rows.map((row) => wordsIn(row[at] ?? []))))
    .map((ems) => ems * wider)
  const needed = min.reduce((sum, one) => sum + one, 0)
  const fontSize = sizes.find((size) => needed * size <= room)
  if (fontSize === undefined) return null
  const spare = room - needed * fontSize
  return { fontSize, padding, widths: columnShares(table).map((share, at) => min[at]! * fontSize + share * spare) }
}

function wordsIn(text: Text): number {
  const shown = plain(text)
  const words = isWholeNumber(text) ? [shown] : shown.split(/\s+/)
  return words.reduce((max, word) => Math.max(max, Math.min(LONGEST, widthOf(word))), 0)
}

/** A number must not break, although it may contain spaces between thousands. */
export const isWholeNumber = (text: Text): boolean => readNumber(plain(text)) !== null

const widths = new Map<string, number>()
const bold = fontOf(FONTS.Roboto.bold)

/** In ems, measured in bold, which is the widest style. */
function widthOf(word: string): number {
  let sum = 0
  for (const letter of word) {
    const code = letter.codePointAt(0)!
    // A letter missing from this font comes from another font and is at most one em wide.
    const width = widths.getOrInsertComputed(letter, () =>
      bold.hasGlyphForCodePoint(code) ? bold.glyphForCodePoint(code).advanceWidth / bold.unitsPerEm : 1,
    )
    sum += width
  }
  return sum
}

/** The share of the width for each column of a table, by the length of its content. The shares add up to one. */
function columnShares({ header, rows }: Table): number[] {
  const lengths = header.map((name, at) => {
    const own = rows.slice(0, MEASURED).map((row) => plain(row[at] ?? []).length)
    const longest = Math.max(plain(name).length, ...own)
    const usual = own.reduce((sum, one) => sum + one, 0) / Math.max(1, own.length)
    return Math.min(WIDEST, Math.max(NARROWEST, (longest + usual) / 2 + 2))
  })
  const all = lengths.reduce((sum, one) => sum + one, 0)
  return lengths.map((length) => length / all)
}
