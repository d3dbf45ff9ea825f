import { readNumber, writtenWith } from '../blocks/chart-data'

/** What a column of a sheet holds, and how each of its numbers is shown. */
export type Typed =
  | { type: 'text' }
  | { type: 'number'; formatOf(cell: string): string; scale: number }
  | { type: 'date' }

/** A spreadsheet counts in doubles: more digits would be changed. */
const MOST_DIGITS = 15
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
/** Codes and telephone numbers look like numbers and are none. */
const CODE = /^[+0]\d/
const SPACED = /\d\s+\d/

/** What the cells of a column are, when all that are not empty are the same; numbers with one unit keep it. */
export function typeOfColumn(cells: readonly string[]): Typed {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== '' && cell !== '–' && cell !== '-')
  if (filled.length === 0) return { type: 'text' }
  if (filled.every((cell) => dateOf(cell) !== null)) return { type: 'date' }
  if (!filled.every(isCount)) return { type: 'text' }
  const units = new Set(filled.map(unitOf))
  if (units.size > 1) return { type: 'text' }
  const [unit] = units
  const isGrouped = filled.some((cell) => writtenWith(cell).isGrouped)
  return { type: 'number', formatOf: (cell) => formatOf(cell.trim(), unit!, isGrouped), scale: unit === '%' ? 100 : 1 }
}

/** Most decimals that a format may have. */
const MOST_DECIMALS = 15

/** A number with the decimals it is written with: `3.50` stays `3.50`, and `3%` beside `12.5%` stays `3%`. */
function formatOf(cell: string, unit: string, isGrouped: boolean): string {
  const decimals = Math.min(MOST_DECIMALS, writtenWith(cell).decimals)
  const digits = `${isGrouped ? '#,##0' : '0'}${decimals ? `.${'0'.repeat(decimals)}` : ''}`
  // Quoted, so that no letter of a unit is read as a code of the format.
  const isBefore = /^[-+−]?\s*[$€£¥]/.test(cell)
  const shown = unit === '%' ? `${digits}%` : !unit ? digits : isBefore ? `"${unit}"${digits}` : `${digits}" ${unit}"`
  return cell.startsWith('+') ? `+${shown};-${shown}` : shown
}

function isCount(cell: string): boolean {
  const digits = cell.replace(/\D/g, '')
  if (CODE.test(cell) && !/^\+?0?[.,]\d|^\+\d{1,3}([.,]\d+)?\s*%?$/.test(cell)) return false
  if (SPACED.test(cell) && !/^\S?\s*\d{1,3}(\s\d{3})+([.,]\d+)?\s*\S{0,4}$/.test(cell)) return false
  return digits.length <= MOST_DIGITS && readNumber(cell) !== null
}

const unitOf = (cell: string): string => cell.replace(/[\d\s.,'’+−-]/g, '')

/** Days before it are counted wrongly by spreadsheets, or not at all. */
const FIRST_DAY = '1900-03-01'

/** The UTC midnight of an ISO date that a spreadsheet knows; null for anything else. */
export function dateOf(cell: string): Date | null {
  const found = DATE.exec(cell.trim())
  if (!found || cell.trim() < FIRST_DAY) return null
  const at = new Date(Date.UTC(Number(found[1]), Number(found[2]) - 1, Number(found[3])))
  return at.toISOString().startsWith(cell.trim()) ? at : null
}
