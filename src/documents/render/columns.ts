import { plain, type Table } from '../blocks/model'

/** In characters: what a column gets at least, and above which more text no longer widens it. */
const NARROWEST = 4
const WIDEST = 42
/** Rows that are measured; the rest is as wide as these. */
const MEASURED = 200

/** The share of the width that each column of a table gets, by the length of what stands in it; they add up to one. */
export function columnShares({ header, rows }: Table): number[] {
  const lengths = header.map((name, at) => {
    const own = rows.slice(0, MEASURED).map((row) => plain(row[at] ?? []).length)
    const longest = Math.max(plain(name).length, ...own)
    const usual = own.reduce((sum, one) => sum + one, 0) / Math.max(1, own.length)
    return Math.min(WIDEST, Math.max(NARROWEST, (longest + usual) / 2 + 2))
  })
  const all = lengths.reduce((sum, one) => sum + one, 0)
  return lengths.map((length) => length / all)
}
