/** Most empty cells between two that are written. */
export const MAX_GAP = 50

/** The root element of a part of the file. */
export type RootOf = (name: string) => Element | null

/** The element name without its prefix, because programs use different prefixes. */
export const nameOf = (element: Element): string => element.tagName.toLowerCase().replace(/^.*:/, '')

/** All descendants with a given name, in document order. */
export function allIn(root: Element | null | undefined, name: string): Element[] {
  const found: Element[] = []
  const walk = (element: Element): void => {
    for (const child of element.children) {
      if (nameOf(child) === name) found.push(child)
      else walk(child)
    }
  }
  if (root) walk(root)
  return found
}

/** The texts of all descendants with a given name. */
export const textsIn = (root: Element | null | undefined, name: string): string[] =>
  allIn(root, name).map((one) => (one.textContent ?? '').trim())

/** The value of an attribute, whatever its prefix. */
export const attributeOf = (element: Element | null | undefined, name = 'val'): string | undefined =>
  [...(element?.attributes ?? [])].find((one) => one.name.replace(/^.*:/, '') === name)?.value

const TENS = ['', 'x', 'xx', 'xxx']
const ONES = ['', 'i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii', 'ix']

/** A number of a list in its format, as Word (`upperRoman`), or OpenDocument and HTML (`I`) name it. */
export function signOf(number: number, format: string): string {
  const roman = /(?:roman|^i)$/i.test(format) && TENS[Math.floor(number / 10)]
  const letter = /(?:letter|^a)$/i.test(format) ? String.fromCharCode(97 + ((number - 1) % 26)) : String(number)
  const sign = typeof roman === 'string' ? roman + ONES[number % 10] : letter
  return /^(?:upper|[AI]$)/.test(format) ? sign.toUpperCase() : sign
}

type ListNode = { nodeName: string; parentNode: ListNode | null; getAttribute?(name: string): string | null }

/** The mark of an item of HTML, such as `- ` or `2. `. Numbers are counted in `counts`. */
export function markOf(item: ListNode, counts: Map<ListNode, number>): string {
  const list = item.parentNode
  if (list?.nodeName.toUpperCase() !== 'OL') return '- '
  const stated = [item.getAttribute?.('value'), counts.has(list) ? null : list.getAttribute?.('start')]
  const first = stated.find((text) => /^\s*-?\d{1,9}\s*$/.test(text ?? ''))
  const number = first ? Number(first) : (counts.get(list) ?? 0) + 1
  counts.set(list, number)
  return `${signOf(number, list.getAttribute?.('type') ?? '1')}. `
}

export type MarkOf = (paragraph: Element) => string

/** The mark of each paragraph in turn: `2. `, `c) `, `iv. ` or `- ` in a list, else nothing. Word stores no numbers. */
export function numberingOf(rootOf: RootOf): MarkOf {
  const root = rootOf('word/numbering.xml')
  const used = new Map(
    allIn(root, 'num').map((one) => {
      const [id, list] = [attributeOf(one, 'numId'), attributeOf(allIn(one, 'abstractnumid')[0])]
      const kind = allIn(root, 'abstractnum').find((other) => attributeOf(other, 'abstractNumId') === list)
      const levels = allIn(kind, 'lvl').map((level) => {
        const [start, format, text] = ['start', 'numfmt', 'lvltext'].map((name) => attributeOf(allIn(level, name)[0]))
        return { start: Number(start ?? 1), format: format ?? 'decimal', text: text ?? '' }
      })
      // Lists of one kind go on counting, unless one starts again.
      return [id, { levels, key: allIn(one, 'startoverride').length ? `own ${id}` : list }]
    }),
  )
  const styles = new Map(
    allIn(rootOf('word/styles.xml'), 'style').map((style) => [attributeOf(style, 'styleId'), allIn(style, 'numpr')[0]]),
  )
  const counts = new Map<string | undefined, number[]>()
  return (paragraph) => {
    const settings = [...paragraph.children].find((child) => nameOf(child) === 'ppr')
    if (!root || !settings) return ''
    const list = allIn(settings, 'numpr')[0] ?? styles.get(attributeOf(allIn(settings, 'pstyle')[0]))
    const { levels = [], key } = used.get(attributeOf(allIn(list, 'numid')[0])) ?? {}
    const depth = Number(attributeOf(allIn(list, 'ilvl')[0]) ?? 0)
    const level = levels[depth]
    if (!level || level.format === 'none') return ''
    if (level.format === 'bullet') return '- '
    const counted = counts.getOrInsertComputed(key, () => [])
    counted.length = Math.min(counted.length, depth + 1)
    counted[depth] = (counted[depth] ?? level.start - 1) + 1
    const shown = level.text.replace(/%(\d)/g, (_, place: string) => {
      const { format = 'decimal', start = 1 } = levels[Number(place) - 1] ?? {}
      return signOf(counted[Number(place) - 1] ?? start, format)
    })
    return shown ? `${shown} ` : ''
  }
}

/** The formats of numbers on slides, such as `alphaLcParenR`, as {@link signOf} names them. */
const SLIDE_FORMATS: Record<string, string> = { alphaLc: 'a', alphaUc: 'A', romanLc: 'i', romanUc: 'I' }

/** The number of each paragraph of a slide in turn. Each text box starts again, and so does a list after other text. */
export function slideNumbering(): MarkOf {
  let box: Element | null = null
  let counts: number[] = []
  return (paragraph) => {
    if (paragraph.parentElement !== box) counts = []
    box = paragraph.parentElement
    const settings = [...paragraph.children].find((child) => nameOf(child) === 'ppr')
    const depth = Number(attributeOf(settings, 'lvl') ?? 0)
    const [list] = allIn(settings, 'buautonum')
    counts.length = Math.min(counts.length, list ? depth + 1 : depth)
    if (!list) return ''
    counts[depth] = (counts[depth] ?? Number(attributeOf(list, 'startAt') ?? 1) - 1) + 1
    const [, format = '', end = ''] = /^([a-z]{1,10}(?:[LU]c)?)(\w{0,20})$/.exec(attributeOf(list, 'type') ?? '') ?? []
    const sign = signOf(counts[depth], SLIDE_FORMATS[format] ?? '1')
    return `${end === 'ParenBoth' ? '(' : ''}${sign}${end.startsWith('Paren') ? ')' : end === 'Period' ? '.' : ''} `
  }
}

/** The workbook data that cells refer to. */
type Book = { shared: readonly string[]; codes: readonly string[]; is1904: boolean }

/** The codes of the built-in formats of every workbook (ECMA-376, 18.8.30): amounts, percentages, dates and times. */
const CODES: Record<number, string> = {
  ...{ 5: '$0', 6: '$0', 7: '$0', 8: '$0', 42: '$0', 44: '$0', 9: '0%', 10: '0%' },
  ...{ 18: 'h', 19: 'h', 20: 'h', 21: 'h', 22: 'd h', 45: 'h', 46: '[h]', 47: 'h' },
}
const isDay = (id: number): boolean => (id >= 14 && id <= 17) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)

/** A spreadsheet stores no longer format. */
const MAX_CODE = 255

/** The currency in the format of a number: `[$€-407]`, `"$"#,##0`. */
const CURRENCY = /(?<=\[\$)[^\]\s-]{1,4}(?=[-\]])|[€£¥₹₽₩₺]|(?<!\[)\$/u

/** Reads what the cells of all sheets refer to. */
export function bookOf(rootOf: RootOf): Book {
  const strings = allIn(rootOf('xl/sharedstrings.xml'), 'si')
  const styles = rootOf('xl/styles.xml')
  const own = new Map(
    allIn(styles, 'numfmt').map((one) => [
      Number(one.getAttribute('numFmtId')),
      (one.getAttribute('formatCode') ?? '').slice(0, MAX_CODE),
    ]),
  )
  const codes = allIn(allIn(styles, 'cellxfs')[0], 'xf').map((style) => {
    const id = Number(style.getAttribute('numFmtId'))
    return own.get(id) ?? CODES[id] ?? (isDay(id) ? 'd' : '')
  })
  const [settings] = allIn(rootOf('xl/workbook.xml'), 'workbookpr')
  const is1904 = /^(?:1|true)$/.test(settings?.getAttribute('date1904') ?? '')
  return { shared: strings.map(spoken), codes, is1904 }
}

/** The text of an entry without its phonetic guide. Decodes characters that XML cannot contain. */
const spoken = (entry: Element): string =>
  [...entry.children]
    .map((child) => (nameOf(child) === 'rph' ? '' : (child.textContent ?? '')))
    .join('')
    .replace(/_x([0-9a-f]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** A line for each row that is not empty, its cells between tabs, each below its header. */
export const sheetText = (root: Element, book: Book): string =>
  allIn(root, 'row')
    .map((row) => {
      const cells: string[] = []
      for (const cell of allIn(row, 'c')) {
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

/** Quoted words, escaped characters, colours and currencies in a format. They do not determine the kind of value. */
const LITERAL = /"([^"]{0,64})"|\\(.)|[_*].|\[(?![hms]{1,8}\])[^[\]]{0,64}\]/gi

/** A number with what its format shows beside it: `12.5 kg`, `3.5 €`, or `Yes` instead of a number. */
function withWords(shown: string, value: number, code: string): string {
  const currency = CURRENCY.exec(code)?.[0]
  if (currency) return `${shown} ${currency}`
  const sections = code.match(/(?:"[^"]*"|\\.|[^;])+/g) ?? []
  const section = sections[value > 0 ? 0 : value < 0 ? 1 : 2] ?? sections[0] ?? ''
  const plain = section.replace(LITERAL, (_, quoted = '', escaped = '') => (quoted + escaped).replace(/[\d#?()-]/g, ''))
  const [before = '', after] = plain.split(/(?:General|[0#?][0#?.,/]*(?: [0#?][0#?/]*)*)/i)
  // A comma at the end divides by a thousand, and the value is shown whole.
  if (/[0#?],+(?![0#?])/.test(section)) return shown
  return after === undefined ? before.trim() || shown : `${before}${shown}${after}`.replace(/[%@()]/g, '').trim()
}

function shownIn(cell: Element, { shared, codes, is1904 }: Book): string {
  const kind = cell.getAttribute('t') ?? 'n'
  const [inside] = allIn(cell, 'is')
  // Programs that do not calculate store formulas without a value.
  const [formula] = textsIn(cell, 'f')
  const value =
    (allIn(cell, 'v')[0]?.textContent || (inside && spoken(inside)) || (formula && `=${formula.slice(0, 500)}`)) ?? ''
  if (kind === 's') return shared[Number(value)] ?? ''
  if (kind === 'b') return value === '1' ? 'TRUE' : 'FALSE'
  const number = Number(value)
  if (kind !== 'n' || value === '' || !Number.isFinite(number)) return value
  const code = codes[Number(cell.getAttribute('s') ?? 0)] ?? ''
  const format = code.replace(LITERAL, '')
  if (format.includes('%')) return `${Number((number * 100).toPrecision(15))}%`
  if (/[dmyhs]/i.test(format)) return momentOf(number, format, is1904)
  // Codes such as `00420` are stored as numbers.
  if (/^0{2,20}$|^[0-]{3,20}$/.test(format) && Number.isInteger(number) && number >= 0) return coded(value, format)
  // A double has more digits than a spreadsheet shows.
  const shown = value.length > 15 && Math.abs(number) < 1e15 ? String(Number(number.toPrecision(15))) : value
  return withWords(shown, number, code)
}

/** Puts the digits of a number into a format of zeros: 123456789 in `00000-0000` is `12345-6789`. */
function coded(digits: string, format: string): string {
  const places = format.replaceAll('-', '').length
  const left = [...digits.padStart(places, '0')]
  const before = left.splice(0, left.length - places).join('')
  return before + format.replace(/0/g, () => left.shift() ?? '')
}

/** Converts a number of days to a date, a time, or both, as its format shows. */
function momentOf(days: number, format: string, is1904: boolean): string {
  // A duration of more than a day in hours.
  if (/\[h+\]/i.test(format))
    return `${Math.floor(days * 24 + 1e-9)}:${String(Math.round(days * 1_440) % 60).padStart(2, '0')}`
  // Spreadsheets count a day in 1900 that did not exist, so earlier dates are one day behind.
  const beginsMs = is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days >= 1 && days < 60 ? 31 : 30)
  const moment = new Date(beginsMs + Math.round(days * 86_400) * 1_000)
  if (Number.isNaN(moment.getTime())) return String(days)
  const [date = '', time = ''] = moment.toISOString().split(/[T.]/)
  if (/[hs]/i.test(format) && !/[dy]/i.test(format)) return time
  return /h/i.test(format) ? `${date} ${time}` : date
}
