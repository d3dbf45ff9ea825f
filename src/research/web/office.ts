import { unzipSync } from 'fflate'
import { DOMParser, parseHTML } from 'linkedom'
import PostalMime, { decodeWords } from 'postal-mime'

/** Maximum total unpacked size, because a small archive can expand to any size. */
const MAX_UNPACKED = 64 * 1024 * 1024
/** Most empty cells between two that are written. */
const MAX_GAP = 50

/** Normalizes the names of parts, because programs use either case, either slash, and an optional leading slash. */
const plainName = (name: string): string => name.replaceAll('\\', '/').replace(/^\//, '').toLowerCase()

/** Parts of Office and OpenDocument files (`content.xml`), and the chapters and package file of EPUBs. */
const PART =
  /^(?:content\.xml|.{1,300}\.(?:opf|x?html?)|word\/(?:document\d{0,3}|footnotes|endnotes|comments|header\d{1,3}|footer\d{1,3})\.xml|ppt\/(?:presentation|(?:slides|notesslides|diagrams)\/[a-z]{1,20}\d{1,5})\.xml|ppt\/(?:_rels\/presentation|slides\/_rels\/slide\d{1,5})\.xml\.rels|xl\/(?:workbook|styles|sharedstrings|worksheets\/[^/]{1,40})\.xml|xl\/_rels\/workbook\.xml\.rels)$/

/** The order in which the parts of a Word document are read. */
const OF_WORD = [
  /^word\/document\d*\.xml$/,
  /^word\/footnotes\d*\.xml$/,
  /^word\/endnotes\d*\.xml$/,
  /^word\/comments\d*\.xml$/,
  /^word\/header\d*\.xml$/,
  /^word\/footer\d*\.xml$/,
]

/** The text of a Word, PowerPoint, Excel, OpenDocument or EPUB file. Throws for other archives and too large ones. */
export function officeText(bytes: Uint8Array): string {
  let total = 0
  const unpacked = unzipSync(bytes, {
    filter: ({ name, originalSize }) => {
      if (!PART.test(plainName(name))) return false
      total += originalSize
      if (total > MAX_UNPACKED) throw new Error('the document is too large once unpacked')
      return true
    },
  })
  const parts = new Map(Object.entries(unpacked).map(([name, part]) => [plainName(name), part]))
  const read = new Map<string, Element>()
  const rootOf = (name: string): Element | null => {
    const part = parts.get(name)
    if (!part) return null
    return read.getOrInsertComputed(name, () => {
      const isWide = (part[0] === 0xff && part[1] === 0xfe) || (part[0] === 0xfe && part[1] === 0xff)
      const charset = isWide ? (part[0] === 0xff ? 'utf-16le' : 'utf-16be') : 'utf-8'
      const xml = new TextDecoder(charset).decode(part)
      return (new DOMParser().parseFromString(xml, 'text/xml') as unknown as Document).documentElement
    })
  }
  const sheets = inOrder('xl/workbook.xml', 'sheet', /^xl\/worksheets\//, [...parts.keys()], rootOf)
  const slides = inOrder('ppt/presentation.xml', 'sldid', /^ppt\/slides\/[^_]/, [...parts.keys()], rootOf)
  const words = OF_WORD.flatMap((kind) => namesOf([...parts.keys()], kind))
  const others = [...openText(rootOf('content.xml')), ...chapters(parts, rootOf)]
  if (![sheets, slides, words, others].some(({ length }) => length))
    throw new Error('no document of a kind that is read here')
  const book = sheets.length ? bookOf(rootOf) : null
  const texts = [
    ...others,
    // Deduplicated, because several parts often have the same headers and footers.
    ...new Set(words.map((name) => proseOf(rootOf(name)!))),
    ...slides.flatMap(({ name }) => [name, ...besides(name, rootOf)].map((part) => proseOf(rootOf(part)!))),
    ...sheets.map(({ name, title }) => {
      const text = sheetText(rootOf(name)!, book!)
      return title && text && sheets.length > 1 ? `${title}\n${text}` : text
    }),
  ]
  return texts.filter(Boolean).join('\n\n')
}

/** Elements of an OpenDocument file that are skipped: formatting and deleted text. */
const UNREAD_OPEN = /^(?:automatic-styles|font-face-decls|scripts|forms|tracked-changes|title|desc)$/

/** The text of an OpenDocument file, then its notes. One line per paragraph and per table row. */
function openText(root: Element | null): string[] {
  const lines: string[] = []
  const notes: string[] = []
  let line = ''
  const walk = (element: Element, isIn: boolean): void => {
    for (const child of element.childNodes as unknown as Iterable<Element>) {
      if (child.nodeType === 3 && isIn) line += (child.textContent ?? '').replace(/\s+/g, ' ')
      if (child.nodeType !== 1) continue
      const name = nameOf(child)
      if (UNREAD_OPEN.test(name)) continue
      if (name === 's') line += ' '.repeat(Math.min(100, Number(child.getAttribute('text:c') ?? 1)))
      else if (name === 'tab') line += '\t'
      else if (name === 'line-break') line += '\n'
      else if (name === 'note' || name === 'annotation') notes.push(openText(child).join(' '))
      else if (name === 'table-row') {
        const cells = [...child.children].flatMap((cell) => {
          const words = openText(cell).join(' ').replace(/\s+/g, ' ').trim()
          const times = Number(cell.getAttribute('table:number-columns-repeated') ?? 1)
          return Array.from({ length: Math.min(times, MAX_GAP) }, () => words)
        })
        lines.push(cells.join('\t').trimEnd())
      } else if (name === 'p' || name === 'h') {
        if (line) lines.push(line)
        line = ''
        walk(child, true)
        lines.push(line)
        line = ''
      } else walk(child, isIn)
    }
  }
  if (root) walk(root, false)
  return [lines.filter(Boolean).join('\n'), ...notes].filter(Boolean)
}

/** The text of the chapters of an EPUB, in its reading order. */
function chapters(parts: ReadonlyMap<string, Uint8Array>, rootOf: RootOf): string[] {
  const list = [...parts.keys()].find((name) => name.endsWith('.opf'))
  const root = list ? rootOf(list) : null
  const pathOf = (href: string) => plainName(decodeURIComponent(URL.parse(href, `file:///${list}`)?.pathname ?? ''))
  const paths = new Map(
    allIn(root, 'item').map((item) => [item.getAttribute('id'), pathOf(item.getAttribute('href') ?? '')]),
  )
  return allIn(root, 'itemref').flatMap((item) => {
    const part = parts.get(paths.get(item.getAttribute('idref')) ?? '')
    return (part && pageText(new TextDecoder().decode(part))) || []
  })
}

type RootOf = (name: string) => Element | null
type Placed = { name: string; title: string }
/** Parts by the number in their names. */
const namesOf = (names: readonly string[], kind: RegExp): string[] =>
  names.filter((name) => kind.test(name)).toSorted((a, b) => numberOf(a) - numberOf(b))

const numberOf = (name: string): number => Number(/\d{1,5}/.exec(name)?.[0] ?? 0)

/** The parts that a list names and shows, in its order and by its names, then those that it does not name. */
function inOrder(list: string, entry: string, kind: RegExp, names: readonly string[], rootOf: RootOf): Placed[] {
  const folder = list.slice(0, list.indexOf('/') + 1)
  const targets = targetsOf(rootOf(`${folder}_rels/${list.slice(folder.length)}.rels`), folder)
  const listed = allIn(rootOf(list), entry).flatMap((element) => {
    const id = [...element.attributes].find(({ name }) => /:id$/i.test(name))?.value ?? ''
    const name = targets.get(id)
    const isHidden = /hidden/i.test(element.getAttribute('state') ?? '')
    if (!name || !kind.test(name) || !names.includes(name)) return []
    return [{ name, title: element.getAttribute('name') ?? '', isHidden }]
  })
  const others = namesOf(names, kind).filter((name) => !listed.some((one) => one.name === name))
  const shown = listed.filter(({ isHidden }) => !isHidden)
  return [...(shown.length ? shown : listed), ...others.map((name) => ({ name, title: '' }))]
}

const targetsOf = (relations: Element | null, folder: string): Map<string, string> =>
  new Map(
    allIn(relations, 'relationship').map((element) => {
      const target = element.getAttribute('Target') ?? ''
      const path = URL.parse(target, `file:///${folder}`)?.pathname ?? ''
      return [element.getAttribute('Id') ?? '', plainName(path)]
    }),
  )

/** The notes and the diagrams of a slide. */
function besides(slide: string, rootOf: RootOf): string[] {
  const relations = rootOf(slide.replace('slides/', 'slides/_rels/').concat('.rels'))
  return [...targetsOf(relations, 'ppt/slides/').values()].filter(
    (name) => /^ppt\/(?:notesslides|diagrams\/data)/.test(name) && rootOf(name),
  )
}

/** The element name without its prefix, because programs use different prefixes. */
const nameOf = (element: Element): string => element.tagName.toLowerCase().replace(/^.*:/, '')

/** All descendants with a given name, in document order. */
function allIn(root: Element | null, name: string): Element[] {
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

/** The text that replaces these elements. */
const SIGNS: Record<string, string> = { tab: '\t', br: '\n', cr: '\n', nobreakhyphen: '-' }

/**
 * Elements that are skipped: formatting, moved text, slide fields such as numbers, and fallback copies for programs
 * that cannot render the first version.
 */
const UNREAD = /pr$|^(?:movefrom|fallback|fld)$/

/** One line per paragraph of a Word document (`w:p`) or slide (`a:p`), and per table row. */
function proseOf(root: Element): string {
  const lines: string[] = []
  let line = ''
  const walk = (element: Element): void => {
    for (const child of element.children) {
      const name = nameOf(child)
      // In a diagram, an element with this name contains the text elements.
      if (name === 't' && !child.children.length) line += child.textContent ?? ''
      else if (SIGNS[name]) line += SIGNS[name]
      else if (name === 'tr')
        lines.push(
          cellsOf(child)
            .map((cell) => proseOf(cell).replace(/\s+/g, ' ').trim())
            .join('\t'),
        )
      else if (!UNREAD.test(name)) {
        // A run marked as hidden.
        if (name === 'r' && [...child.children].some((one) => nameOf(one) === 'rpr' && allIn(one, 'vanish').length))
          continue
        // A text box may be inside a paragraph.
        if (name === 'p' && line) lines.push(line)
        if (name === 'p') line = ''
        walk(child)
      }
      if (name === 'p') {
        lines.push(line)
        line = ''
      }
    }
  }
  walk(root)
  return lines.join('\n').trim()
}

/** The cells of a row, including those inside a control or a tracked change. */
const cellsOf = (row: Element): Element[] =>
  [...row.children].flatMap((child) => (nameOf(child) === 'tc' ? [child] : cellsOf(child)))

/** The workbook data that cells refer to. */
type Book = { shared: readonly string[]; formats: readonly string[]; beginsMs: number }

/** The codes of the built-in formats of every workbook (ECMA-376, 18.8.30): percentages, dates and times. */
const CODES: Record<number, string> = { 9: '%', 10: '%', 18: 'h', 19: 'h', 20: 'h', 21: 'h', 22: 'd h' }
const isDay = (id: number): boolean => (id >= 14 && id <= 17) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)

function bookOf(rootOf: RootOf): Book {
  const strings = allIn(rootOf('xl/sharedstrings.xml'), 'si')
  const styles = rootOf('xl/styles.xml')
  const own = new Map(
    allIn(allIn(styles, 'numfmts')[0] ?? null, 'numfmt').map((format) => [
      Number(format.getAttribute('numFmtId')),
      // Quoted words, escaped characters, colours and currencies do not determine the kind of value.
      (format.getAttribute('formatCode') ?? '').replace(/"[^"]{0,64}"|\\.|\[(?![hms]{1,8}\])[^[\]]{0,64}\]/gi, ''),
    ]),
  )
  const formats = allIn(allIn(styles, 'cellxfs')[0] ?? null, 'xf').map((style) => {
    const id = Number(style.getAttribute('numFmtId'))
    return own.get(id) ?? CODES[id] ?? (isDay(id) ? 'd' : id >= 45 && id <= 47 ? 'h' : '')
  })
  const [settings] = allIn(rootOf('xl/workbook.xml'), 'workbookpr')
  const is1904 = /^(?:1|true)$/.test(settings?.getAttribute('date1904') ?? '')
  return { shared: strings.map(spoken), formats, beginsMs: is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30) }
}

/** The text of an entry without its phonetic guide. Decodes characters that XML cannot contain. */
const spoken = (entry: Element): string =>
  [...entry.children]
    .map((child) => (nameOf(child) === 'rph' ? '' : (child.textContent ?? '')))
    .join('')
    .replace(/_x([0-9a-f]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** A line for each row that is not empty, its cells between tabs, each below its header. */
const sheetText = (root: Element, book: Book): string =>
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

function shownIn(cell: Element, { shared, formats, beginsMs }: Book): string {
  const kind = cell.getAttribute('t') ?? 'n'
  const [inside] = allIn(cell, 'is')
  const value = allIn(cell, 'v')[0]?.textContent ?? (inside ? spoken(inside) : '')
  if (kind === 's') return shared[Number(value)] ?? ''
  if (kind === 'b') return value === '1' ? 'TRUE' : 'FALSE'
  const number = Number(value)
  if (kind !== 'n' || value === '' || !Number.isFinite(number)) return value
  const format = formats[Number(cell.getAttribute('s') ?? 0)] ?? ''
  if (format.includes('%')) return `${Number((number * 100).toPrecision(15))}%`
  if (/[dyhs]/i.test(format)) return momentOf(number, format, beginsMs)
  // Codes such as `00420` are stored as numbers.
  if (/^0{2,20}$|^[0-]{3,20}$/.test(format) && Number.isInteger(number) && number >= 0) return coded(value, format)
  // A double has more digits than a spreadsheet shows.
  return value.length > 15 && Math.abs(number) < 1e15 ? String(Number(number.toPrecision(15))) : value
}

/** Puts the digits of a number into a format of zeros: 123456789 in `00000-0000` is `12345-6789`. */
function coded(digits: string, format: string): string {
  const places = format.replaceAll('-', '').length
  const left = [...digits.padStart(places, '0')]
  const before = left.splice(0, left.length - places).join('')
  return before + format.replace(/0/g, () => left.shift() ?? '')
}

/** Converts a number of days to a date, a time, or both, as its format shows. */
function momentOf(days: number, format: string, beginsMs: number): string {
  // A duration of more than a day in hours.
  if (/\[h+\]/i.test(format))
    return `${Math.floor(days * 24 + 1e-9)}:${String(Math.round(days * 1_440) % 60).padStart(2, '0')}`
  const moment = new Date(beginsMs + Math.round(days * 86_400) * 1_000)
  if (Number.isNaN(moment.getTime())) return String(days)
  const [date = '', time = ''] = moment.toISOString().split(/[T.]/)
  const hasDate = /[dy]/i.test(format)
  if (!hasDate) return time
  return /h/i.test(format) ? `${date} ${time}` : date
}

const SHOWN_FIELDS = ['From', 'To', 'Cc', 'Date', 'Subject']

/** The headers of a mail and its text, or the text of its HTML part. Omits attachments. */
export async function mailText(bytes: Uint8Array): Promise<{ title: string | null; text: string }> {
  const { headers, text, html } = await PostalMime.parse(bytes, { maxNestingDepth: 10 })
  const shown = SHOWN_FIELDS.map((name) => {
    const value = headers.find(({ key }) => key === name.toLowerCase())?.value ?? ''
    return [name, decodeWords(value).slice(0, 1_000)] as const
  })
  const head = shown.flatMap(([name, value]) => (value ? [`${name}: ${value}`] : []))
  const words = text?.trim() || pageText(html ?? '')
  return { title: shown.at(-1)![1] || null, text: [head.join('\n'), words].filter(Boolean).join('\n\n') }
}

function inCharset(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder(name as 'utf-8').decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

function pageText(html: string): string {
  const { document } = parseHTML(`<html><body>${html}</body></html>`)
  for (const unseen of document.querySelectorAll('style, script, head, title')) unseen.remove()
  for (const end of document.querySelectorAll('br, p, div, tr, li, h1, h2, h3')) end.append('\n')
  return (document.body.textContent ?? '')
    .replace(/[ \t]{1,20}\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

const RTF_TOKEN = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|[\r\n]+|[^\\{}\r\n]+/gi

/** Groups that contain no document text. */
const RTF_UNSEEN = new Set(
  'fonttbl colortbl stylesheet info pict object header footer headerl headerr footerl footerr listtable listoverridetable themedata datastore generator fldinst'.split(
    ' ',
  ),
)
const RTF_SIGNS: Readonly<Record<string, string>> = {
  ...{ par: '\n', line: '\n', sect: '\n', page: '\n', row: '\n', tab: '\t', cell: '\t' },
  ...{ emdash: '—', endash: '–', lquote: '‘', rquote: '’', ldblquote: '“', rdblquote: '”', bullet: '•' },
}

/** The text of an RTF document, without fonts, images and fields. */
export function rtfText(bytes: Uint8Array): string {
  const source = Buffer.from(bytes).toString('latin1')
  const page = /\\ansicpg(\d{3,5})/.exec(source.slice(0, 1_000))?.[1] ?? '1252'
  const charset =
    { 932: 'shift_jis', 936: 'gbk', 949: 'euc-kr', 950: 'big5', 65001: 'utf-8' }[page] ?? `windows-${page}`
  const pieces: string[] = []
  const groups: { isUnseen: boolean; skips: number }[] = []
  let group = { isUnseen: false, skips: 1 }
  let coded: number[] = []
  let skipped = 0
  const give = (text: string) => {
    if (coded.length) pieces.push(inCharset(Uint8Array.from(coded), charset))
    coded = []
    if (text) pieces.push(text)
  }
  for (const [token, word, number, hex, sign, brace] of source.matchAll(RTF_TOKEN)) {
    if (brace === '{') {
      groups.push(group)
      group = { ...group }
    } else if (brace) group = groups.pop() ?? group
    else if (sign === '*' || (word && RTF_UNSEEN.has(word))) group.isUnseen = true
    else if (word === 'uc') group.skips = Number(number ?? 1)
    else if (group.isUnseen) continue
    else if (word === 'u' && number) {
      give(String.fromCharCode(Number(number) & 0xffff))
      skipped = group.skips
    } else if (hex) {
      if (skipped > 0) skipped--
      else coded.push(Number.parseInt(hex, 16))
    } else if (word) give(RTF_SIGNS[word] ?? '')
    else if (sign) give({ '~': '\u00a0', _: '-', '-': '', '\n': '\n', '\r': '\n' }[sign] ?? sign)
    else if (!/^[\r\n]/.test(token)) {
      give(token.slice(skipped))
      skipped = 0
    }
  }
  give('')
  return pieces.join('').trim()
}
