import { fontOf } from '../../fonts'
import { readNumber } from '../blocks-chart-data'
import { type Block, plain, type Table, type Text } from '../blocks-model'
import { FONTS } from './fonts'

/** In characters: what a column gets at least, and above which more text no longer widens it. */
const NARROWEST = 4

const WIDEST = 42

/** Rows that are measured; the rest is as wide as these. */
const MEASURED = 200

/** In points: letter sizes, the usual one first; the space at each side of a cell; how much wider letters may be. */
type Sizes = { sizes: readonly number[]; padding: number; wider?: number }
export type Fit = { fontSize: number; padding: number; widths: number[] }

/** In ems: longer words, such as addresses, may break. */
const LONGEST = 20

/** Of a few columns, of more, and of many. */
const usualOf = (columns: number): number => (columns > 8 ? 7 : columns > 5 ? 8.5 : 9.5)
const paddingOf = (columns: number): number => (columns > 8 ? 4 : 6)
/** The reader of an Office file may lack its font, and another font has wider letters. */
export const OTHER_FONT = 1.3

/** Smaller letters than the last of these cannot be read on paper. */
export const SMALLER = [9, 8.5, 8, 7.5, 7, 6.5, 6, 5.5, 5]

/** The tables of a document, those in lists and quotes too. */
const tablesIn = (blocks: readonly Block[]): Table[] =>
  blocks.flatMap((block) => {
    if (block.type === 'quote') return tablesIn(block.blocks)
    return block.type === 'table' ? [block] : block.type === 'list' ? block.items.flatMap(tablesIn) : []
  })

/** Whether every table of a document fits an upright page in its usual letters, so that no word or number breaks. */
export const fitsUpright = (blocks: readonly Block[], width: number): boolean =>
  tablesIn(blocks).every((table) => {
    const columns = table.header.length
    return fit(table, width, { sizes: [usualOf(columns)], padding: paddingOf(columns) }) !== null
  })

/** Of a page of docs/attacks.md A4. */
export const ofPage = ({ header: { length } }: Table): Sizes => ({
  sizes: [usualOf(length), ...SMALLER],
  padding: paddingOf(length),
})

/** How a table is set in the largest letters in which no word or number breaks; where there are none, words break. */
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
  const message = plain(text)
  const words = isWholeNumber(text) ? [message] : message.split(/\s+/)
  return words.reduce((max, word) => Math.max(max, Math.min(LONGEST, widthOf(word))), 0)
}

/** A number does not break, although spaces may set its thousands apart. */
export const isWholeNumber = (text: Text): boolean => readNumber(plain(text)) !== null

const widths = new Map<string, number>()
const bold = fontOf(FONTS.Roboto.bold)

/** In ems, of bold letters, which are the widest. */
function widthOf(word: string): number {
  let sum = 0
  for (const letter of word) {
    const known = widths.get(letter) ?? measured(letter)
    widths.set(letter, known)
    sum += known
  }
  return sum
}

/** What this font has no letter for is drawn with another one, up to an em wide. */
function measured(letter: string): number {
  const code = letter.codePointAt(0)!
  return bold.hasGlyphForCodePoint(code) ? bold.glyphForCodePoint(code).advanceWidth / bold.unitsPerEm : 1
}

/** The share of the width that each column of a table gets, by the length of what is in it; they add up to one. */
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
