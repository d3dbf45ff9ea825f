import { unzipSync } from 'fflate'
import { DOMParser } from 'linkedom'

/** Together, once unpacked: a small archive can hold any amount of nothing. */
const MAX_UNPACKED = 64 * 1024 * 1024

const PART =
  /^(?:word\/(?:document|footnotes|endnotes)\.xml|ppt\/slides\/slide\d{1,5}\.xml|xl\/(?:workbook|styles|sharedStrings|worksheets\/sheet\d{1,5})\.xml)$/

/** The text of a Word document, a presentation or a workbook; throws for another archive, and for one that is too large. */
export function officeText(bytes: Uint8Array): string {
  let total = 0
  const parts = unzipSync(bytes, {
    filter: ({ name, originalSize }) => {
      if (!PART.test(name)) return false
      total += originalSize
      if (total > MAX_UNPACKED) throw new Error('the document is too large once unpacked')
      return true
    },
  })
  const names = Object.keys(parts).toSorted((a, b) => numberOf(a) - numberOf(b))
  const sheets = names.filter((name) => name.startsWith('xl/worksheets/'))
  const prose = names.filter((name) => !name.startsWith('xl/'))
  if (!sheets.length && !prose.length) throw new Error('no document of a kind that is read here')
  const xmlOf = (name: string) =>
    new DOMParser().parseFromString(new TextDecoder().decode(parts[name]), 'text/xml') as unknown as Document
  const book = sheets.length ? bookOf((name) => (parts[name] ? xmlOf(name) : null)) : null
  return [
    ...prose.map((name) => proseOf(xmlOf(name).documentElement)),
    ...sheets.map((name) => sheetText(xmlOf(name), book!)),
  ]
    .filter(Boolean)
    .join('\n\n')
}

/** Notes of a Word document follow its text. */
const numberOf = (name: string): number => Number(/\d{1,5}/.exec(name)?.[0] ?? (name.endsWith('notes.xml') ? 1 : 0))

const nameOf = (element: Element): string => element.tagName.toLowerCase()

/** What a text has in place of these elements. */
const SIGNS: Record<string, string> = {
  'w:tab': '\t',
  'w:br': '\n',
  'w:cr': '\n',
  'a:br': '\n',
  'w:nobreakhyphen': '-',
}

/** A line for each paragraph, of a Word document (`w:p`) and of a slide (`a:p`), and for each row of a table. */
function proseOf(root: Element): string {
  const lines: string[] = []
  let line = ''
  const walk = (element: Element): void => {
    for (const child of element.children) {
      const name = nameOf(child)
      if (name === 'w:t' || name === 'a:t') line += child.textContent ?? ''
      else if (SIGNS[name]) line += SIGNS[name]
      else if (name === 'w:tr' || name === 'a:tr')
        lines.push(
          cellsOf(child)
            .map((cell) => proseOf(cell).replace(/\s+/g, ' ').trim())
            .join('\t'),
        )
      // The same text once more, for programs that cannot draw the first.
      else if (name !== 'mc:fallback') walk(child)
      if (name === 'w:p' || name === 'a:p') {
        lines.push(line)
        line = ''
      }
    }
  }
  walk(root)
  return lines.join('\n').trim()
}

/** The cells of a row, also those in a control or a change. */
const cellsOf = (row: Element): Element[] =>
  [...row.children].flatMap((child) => (/^[wa]:tc$/.test(nameOf(child)) ? [child] : cellsOf(child)))

/** What cells refer to. */
type Book = { shared: readonly string[]; formats: readonly string[]; beginsMs: number }

/** The codes of the formats that every workbook has (ECMA-376, 18.8.30): shares, dates and times. */
const CODES: Record<number, string> = { 9: '%', 10: '%', 18: 'h', 19: 'h', 20: 'h', 21: 'h', 22: 'd h' }
const isDay = (id: number): boolean => (id >= 14 && id <= 17) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)

function bookOf(partOf: (name: string) => Document | null): Book {
  const strings = [...(partOf('xl/sharedStrings.xml')?.querySelectorAll('si') ?? [])]
  const styles = partOf('xl/styles.xml')
  const own = new Map(
    [...(styles?.querySelectorAll('numFmts > numFmt') ?? [])].map((format) => [
      Number(format.getAttribute('numFmtId')),
      // Words in quotes, escaped signs, colours and currencies say nothing about the kind of value.
      (format.getAttribute('formatCode') ?? '').replace(/"[^"]{0,64}"|\\.|\[(?![hms]{1,8}\])[^[\]]{0,64}\]/gi, ''),
    ]),
  )
  const formats = [...(styles?.querySelectorAll('cellXfs > xf') ?? [])].map((style) => {
    const id = Number(style.getAttribute('numFmtId'))
    return own.get(id) ?? CODES[id] ?? (isDay(id) ? 'd' : id >= 45 && id <= 47 ? 'h' : '')
  })
  const is1904 = /^(?:1|true)$/.test(
    partOf('xl/workbook.xml')?.querySelector('workbookPr')?.getAttribute('date1904') ?? '',
  )
  return { shared: strings.map(spoken), formats, beginsMs: is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30) }
}

/** The text of an entry, without how it is pronounced. */
const spoken = (entry: Element): string =>
  [...entry.children].map((child) => (nameOf(child) === 'rph' ? '' : (child.textContent ?? ''))).join('')

/** Most empty cells between two that are written. */
const MAX_GAP = 50

/** A line for each row that is not empty, its cells between tabs, each below its header. */
const sheetText = (document: Document, book: Book): string =>
  [...document.querySelectorAll('row')]
    .map((row) => {
      const cells: string[] = []
      for (const cell of row.querySelectorAll('c')) {
        // `C7` is below `C1`, in the third column.
        const letters = /^[A-Z]{1,3}/.exec(cell.getAttribute('r') ?? '')?.[0] ?? ''
        const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0)
        const gap = column - 1 - cells.length
        for (let at = 0; at < Math.min(gap, MAX_GAP); at++) cells.push('')
        cells.push(shownIn(cell, book).replace(/\s+/g, ' ').trim())
      }
      return cells.join('\t').trimEnd()
    })
    .filter(Boolean)
    .join('\n')

function shownIn(cell: Element, { shared, formats, beginsMs }: Book): string {
  const kind = cell.getAttribute('t') ?? 'n'
  const inside = cell.querySelector('is')
  const value = cell.querySelector('v')?.textContent ?? (inside ? spoken(inside) : '')
  if (kind === 's') return shared[Number(value)] ?? ''
  if (kind === 'b') return value === '1' ? 'TRUE' : 'FALSE'
  const number = Number(value)
  if (kind !== 'n' || value === '' || !Number.isFinite(number)) return value
  const format = formats[Number(cell.getAttribute('s') ?? 0)] ?? ''
  if (format.includes('%')) return `${Number((number * 100).toPrecision(15))}%`
  return /[dyhs]/i.test(format) ? momentOf(number, format, beginsMs) : value
}

/** A count of days as a date, a time, or both, whichever its format shows. */
function momentOf(days: number, format: string, beginsMs: number): string {
  // More than a day of hours.
  if (/\[h+\]/i.test(format))
    return `${Math.floor(days * 24 + 1e-9)}:${String(Math.round(days * 1_440) % 60).padStart(2, '0')}`
  const moment = new Date(beginsMs + Math.round(days * 86_400) * 1_000)
  if (Number.isNaN(moment.getTime())) return String(days)
  const [date = '', time = ''] = moment.toISOString().split(/[T.]/)
  const hasDate = /[dy]/i.test(format)
  if (!hasDate) return time
  return /h/i.test(format) ? `${date} ${time}` : date
}
