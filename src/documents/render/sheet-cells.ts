import { readNumber } from '../blocks/chart-data'

/** What a column of a sheet holds, and how its numbers are shown. */
export type Typed = { type: 'text' } | { type: 'number'; format: string; scale: number } | { type: 'date' }

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
  const decimals = Math.min(4, Math.max(...filled.map(decimalsOf)))
  const digits = `#,##0${decimals ? `.${'0'.repeat(decimals)}` : ''}`
  const isYears = !unit && decimals === 0 && filled.every((cell) => /^(1[5-9]|20|21)\d\d$/.test(cell))
  if (isYears) return { type: 'number', format: '0', scale: 1 }
  if (unit === '%') return { type: 'number', format: digits.replace('#,##0', '0').concat('%'), scale: 100 }
  if (!unit) return { type: 'number', format: digits, scale: 1 }
  // Quoted, so that no letter of a unit is read as a code of the format.
  const isBefore = /^[-+−]?\s*[$€£¥]/.test(filled[0]!)
  return { type: 'number', format: isBefore ? `"${unit}"${digits}` : `${digits}" ${unit}"`, scale: 1 }
}

function isCount(cell: string): boolean {
  const digits = cell.replace(/\D/g, '')
  if (CODE.test(cell) && !/^\+?0?[.,]\d|^\+\d{1,3}([.,]\d+)?\s*%?$/.test(cell)) return false
  if (SPACED.test(cell) && !/^\S?\s*\d{1,3}(\s\d{3})+([.,]\d+)?\s*\S{0,4}$/.test(cell)) return false
  return digits.length <= MOST_DIGITS && readNumber(cell) !== null
}

const unitOf = (cell: string): string => cell.replace(/[\d\s.,'’+−-]/g, '')

function decimalsOf(cell: string): number {
  const value = String(readNumber(cell))
  return value.includes('e') ? 0 : (value.split('.')[1]?.length ?? 0)
}

/** The UTC midnight of an ISO date; null for anything else. */
export function dateOf(cell: string): Date | null {
  const found = DATE.exec(cell.trim())
  if (!found) return null
  const at = new Date(Date.UTC(Number(found[1]), Number(found[2]) - 1, Number(found[3])))
  return at.toISOString().startsWith(cell.trim()) ? at : null
}
