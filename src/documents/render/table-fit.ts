import { fontOf } from '../../fonts'
import { readNumber } from '../blocks/chart-data'
import { type Block, plain, type Table, type Text } from '../blocks/model'
import { columnShares } from './columns'
import { FONTS } from './fonts'

/** In points: sizes of letters, the usual one first, and the space at each side of a cell. */
type Sizes = { sizes: readonly number[]; padding: number }
export type Fit = { fontSize: number; padding: number; widths: number[] }

/** In ems: longer words, such as addresses, may break. */
const LONGEST = 20

/** Of a few columns, of more, and of many. */
const usualOf = (columns: number): number => (columns > 8 ? 7 : columns > 5 ? 8.5 : 9.5)
const paddingOf = (columns: number): number => (columns > 8 ? 4 : 6)
/** Smaller letters than the last of these cannot be read on paper. */
const SMALLER = [9, 8.5, 8, 7.5, 7, 6.5, 6, 5.5, 5]

/** The tables of a document, those in lists and quotes too. */
export const tablesIn = (blocks: readonly Block[]): Table[] =>
  blocks.flatMap((block) => {
    if (block.type === 'quote') return tablesIn(block.blocks)
    return block.type === 'table' ? [block] : block.type === 'list' ? block.items.flatMap(tablesIn) : []
  })

/** How a table is set across a page in its usual letters, so that no word or number breaks; null where it is too wide. */
export const fitUsual = (table: Table, width: number): Fit | null =>
  fit(table, width, { sizes: [usualOf(table.header.length)], padding: paddingOf(table.header.length) })

/** The same with the largest letters that fit; where none do, words break. */
export function fitAny(table: Table, width: number): Fit {
  const columns = table.header.length
  const padding = paddingOf(columns)
  const found = fitUsual(table, width) ?? fit(table, width, { sizes: SMALLER, padding })
  if (found) return found
  const room = width - columns * 2 * padding
  return { fontSize: 7, padding, widths: columnShares(table).map((share) => share * room) }
}

function fit(table: Table, width: number, { sizes, padding }: Sizes): Fit | null {
  const room = width - table.header.length * 2 * padding
  const least = leastWidths(table)
  const needed = least.reduce((sum, one) => sum + one, 0)
  const fontSize = sizes.find((size) => needed * size <= room)
  if (fontSize === undefined) return null
  const spare = room - needed * fontSize
  return { fontSize, padding, widths: columnShares(table).map((share, at) => least[at]! * fontSize + share * spare) }
}

/** In ems: the widest word or number of each column. */
const leastWidths = ({ header, rows }: Table): number[] =>
  header.map((name, at) => Math.max(1, wordsIn(name), ...rows.map((row) => wordsIn(row[at] ?? []))))

function wordsIn(text: Text): number {
  const said = plain(text)
  const words = isWholeNumber(text) ? [said] : said.split(/\s+/)
  return words.reduce((most, word) => Math.max(most, Math.min(LONGEST, widthOf(word))), 0)
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
