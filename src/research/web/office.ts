import { unzipSync } from 'fflate'
import { DOMParser } from 'linkedom'
import { pageText } from './mail-rtf'
import {
  allIn,
  attributeOf,
  bookOf,
  MAX_GAP,
  type MarkOf,
  nameOf,
  numberingOf,
  type RootOf,
  sheetText,
  signOf,
  slideNumbering,
  textsIn,
} from './office-parts'

/** Maximum total unpacked size, because a small archive can expand to any size. */
const MAX_UNPACKED = 64 * 1024 * 1024

/** Normalizes the names of parts, because programs use either case, either slash, and an optional leading slash. */
const plainName = (name: string): string => name.replaceAll('\\', '/').replace(/^\//, '').toLowerCase()

/** Parts of Office and OpenDocument files (`content.xml`, also of their formulas and charts), and the chapters and package file of EPUBs. */
const PART =
  /^(?:(?:[^/]{1,60}\/)?content\.xml|styles\.xml|.{1,300}\.(?:opf|x?html?)|(?:word|ppt)\/charts\/chart\d{1,5}\.xml|word\/(?:diagrams\/data\d{1,5}\.xml|[^/]{1,60}\.mht|(?:document\d{0,3}|styles|numbering|footnotes|endnotes|comments|header\d{1,3}|footer\d{1,3})\.xml)|ppt\/(?:presentation|comments\/[\w{}-]{1,80}|(?:slides|notesslides|diagrams)\/[a-z]{1,20}\d{1,5})\.xml|ppt\/(?:_rels\/presentation|slides\/_rels\/slide\d{1,5})\.xml\.rels|xl\/(?:workbook|styles|sharedstrings|comments(?:\/comment)?\d{1,5}|drawings\/drawing\d{1,5}|worksheets\/[^/]{1,40})\.xml|xl\/_rels\/workbook\.xml\.rels)$/

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
  // An OpenDocument file that is one XML file instead of an archive.
  if (bytes[0] === 0x3c) return openText({ root: rootIn(bytes) }).join('\n\n')
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
    return read.getOrInsertComputed(name, () => rootIn(part))
  }
  const sheets = inOrder('xl/workbook.xml', 'sheet', /^xl\/worksheets\//, [...parts.keys()], rootOf)
  const slides = inOrder('ppt/presentation.xml', 'sldid', /^ppt\/slides\/[^_]/, [...parts.keys()], rootOf)
  const words = OF_WORD.flatMap((kind) => namesOf([...parts.keys()], kind))
  const open = { root: rootOf('content.xml'), shared: rootOf('styles.xml'), rootOf }
  const others = [...openText(open), ...chapters(parts, rootOf)]
  if (![sheets, slides, words, others].some(({ length }) => length))
    throw new Error('no document of a kind that is read here')
  const book = sheets.length ? bookOf(rootOf) : null
  const numbering = numberingOf(rootOf)
  const texts = [
    ...others,
    // Deduplicated, because several parts often have the same headers and footers.
    ...new Set(words.map((name) => proseOf(rootOf(name)!, numbering))),
    ...[...parts].flatMap(([name, part]) => (/^word\/[^/]+\.(?:mht|x?html?)$/.test(name) ? embeddedText(part) : [])),
    ...namesOf([...parts.keys()], /^word\/(?:charts|diagrams)\//).map((name) => partText(rootOf(name)!)),
    ...slides.flatMap(({ name }) => [name, ...besides(name, rootOf)].map((part) => partText(rootOf(part)!))),
    ...sheets.map(({ name, title }) => {
      const text = sheetText(rootOf(name)!, book!)
      return title && text && sheets.length > 1 ? `${title}\n${text}` : text
    }),
    ...namesOf([...parts.keys()], /^xl\/drawings\//).map((name) => proseOf(rootOf(name)!)),
    ...namesOf([...parts.keys()], /^xl\/comments/).flatMap((name) =>
      allIn(rootOf(name), 'comment').map((remark) => textsIn(remark, 't').join('')),
    ),
  ]
  return texts.filter(Boolean).join('\n\n')
}

function rootIn(part: Uint8Array): Element {
  const isWide = (part[0] === 0xff && part[1] === 0xfe) || (part[0] === 0xfe && part[1] === 0xff)
  const charset = isWide ? (part[0] === 0xff ? 'utf-16le' : 'utf-16be') : 'utf-8'
  const xml = new TextDecoder(charset).decode(part)
  return (new DOMParser().parseFromString(xml, 'text/xml') as unknown as Document).documentElement
}

/** Elements of an OpenDocument file that are skipped: formatting, deleted text and page numbers. */
const UNREAD_OPEN =
  /^(?:(?:automatic|master)-styles|font-face-decls|scripts|forms|tracked-changes|title|desc|page-number)$/

/**
 * The workbook of an OpenDocument file, and what its styles change: text that they raise, tables that they hide, and
 * the levels of lists.
 */
type Looks = {
  workbook: Element | undefined
  hasSheets: boolean
  raised: ReadonlySet<string | null>
  hidden: ReadonlySet<string | null>
  levels: ReadonlyMap<string, readonly Element[]>
}

/** The names of the styles with an attribute of this form. */
const namesIn = (root: Element | null, part: string, attribute: string, form: RegExp): Set<string | null> =>
  new Set(
    allIn(root, 'style').flatMap((style) =>
      form.test(attributeOf(allIn(style, part)[0], attribute) ?? '') ? [attributeOf(style, 'name') ?? ''] : [],
    ),
  )

const looksIn = (root: Element | null, shared: Element | null): Looks => ({
  workbook: allIn(root, 'spreadsheet')[0],
  hasSheets: allIn(allIn(root, 'spreadsheet')[0], 'table').length > 1,
  raised: namesIn(root, 'text-properties', 'text-position', /^(?:super|[1-9])/),
  hidden: namesIn(root, 'table-properties', 'display', /^false$/),
  levels: new Map(
    [shared, root].flatMap((one) =>
      allIn(one, 'list-style').map((style) => [attributeOf(style, 'name') ?? '', [...style.children]] as const),
    ),
  ),
})

/** A list around a paragraph, and the number of its item. */
type OpenList = { style: string; level: Element | undefined; number: number }

/** The mark of an item of the innermost list, such as `2. `, `b) ` or `- `. */
function openMark(lists: readonly OpenList[]): string {
  const level = lists.at(-1)?.level
  if (attributeOf(level, 'bullet-char')?.trim()) return '- '
  const numbers = lists
    .slice(-Number(attributeOf(level, 'display-levels') ?? 1))
    .map((list) => signOf(list.number, attributeOf(list.level, 'num-format') ?? ''))
    .filter(Boolean)
  if (!attributeOf(level, 'num-format') || !numbers.length) return ''
  return `${attributeOf(level, 'num-prefix') ?? ''}${numbers.join('.')}${attributeOf(level, 'num-suffix') ?? ''} `
}

/** Most characters of rows that a sheet stores once, although it shows them several times. */
const MAX_REPEATED_CHARS = 200_000

type Open = { root: Element | null; shared?: Element | null; rootOf?: RootOf; looks?: Looks }

/** The text of an OpenDocument file, then its notes. One line per paragraph and per table row. */
function openText({ root, shared = null, rootOf, looks = looksIn(root, shared) }: Open): string[] {
  const { workbook } = looks
  let repeated = 0
  const lists: OpenList[] = []
  const last = new Map<string, number>()
  let mark = ''
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
      else if (name === 'note' || name === 'annotation') notes.push(openText({ root: child, looks }).join(' '))
      else if (name === 'table-row') {
        const cells = [...child.children].flatMap((cell) => {
          const words = openText({ root: cell, rootOf, looks }).join(' ').replace(/\s+/g, ' ').trim()
          const times = Number(cell.getAttribute('table:number-columns-repeated') ?? 1)
          return Array.from({ length: Math.min(times, MAX_GAP) }, () => words)
        })
        const row = cells.join('\t').trimEnd()
        const times = row ? Number(child.getAttribute('table:number-rows-repeated') ?? 1) : 1
        for (let time = 0; time < times && (time === 0 || repeated < MAX_REPEATED_CHARS); time++) {
          lines.push(row)
          if (time > 0) repeated += row.length
        }
      } else if (name === 'table' && looks.hidden.has(attributeOf(child, 'style-name') ?? null)) continue
      else if (name === 'table' && element === workbook && looks.hasSheets) {
        const first = lines.length
        walk(child, isIn)
        if (lines.slice(first).some(Boolean)) lines.splice(first, 0, `\n${attributeOf(child, 'name') ?? ''}`)
      } else if (name === 'object') {
        const object = rootOf?.(plainName(`${attributeOf(child, 'href') ?? ''}/content.xml`).replace('./', ''))
        if (object && nameOf(object) === 'math') line += proseOf(object)
        // The values of a chart in a workbook are those of a sheet.
        else if (object && !workbook) notes.push(...openText({ root: object }))
      } else if (name === 'p' || name === 'h') {
        if (line) lines.push(line)
        line = ''
        walk(child, true)
        lines.push(line && mark + line)
        if (line) mark = ''
        line = ''
      } else if (name === 'list') {
        const style = attributeOf(child, 'style-name') ?? lists.at(-1)?.style ?? ''
        const level = looks.levels.get(style)?.find((one) => attributeOf(one, 'level') === String(lists.length + 1))
        const goesOn = ['continue-numbering', 'continue-list'].some((one) => attributeOf(child, one))
        const before = Number(attributeOf(level, 'start-value') ?? 1) - 1
        lists.push({ style, level, number: (goesOn ? last.get(style) : null) ?? before })
        walk(child, isIn)
        last.set(style, lists.pop()!.number)
      } else if (name === 'list-item') {
        const list = lists.at(-1)
        if (list) list.number = Number(attributeOf(child, 'start-value') ?? list.number + 1)
        mark = openMark(lists)
        walk(child, isIn)
        mark = ''
      } else {
        // `10` with a raised `6` is not 106.
        const isPower = looks.raised.has(child.getAttribute('text:style-name')) && /\d$/.test(line)
        if (isPower && /^[-−]?\d/.test(child.textContent ?? '')) line += '^'
        walk(child, isIn)
      }
    }
  }
  if (root) walk(root, false)
  return [lines.filter(Boolean).join('\n').replace(/^\n/, ''), ...notes].filter(Boolean)
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

/** The text of a page that a Word document contains as a whole, alone or as the only part of a web archive. */
function embeddedText(part: Uint8Array): string {
  const bytes = Buffer.from(part).toString('latin1')
  const isQuoted = /^content-transfer-encoding: *quoted-printable/im.test(bytes)
  const plain = isQuoted
    ? bytes
        .replace(/=\r?\n/g, '')
        .replace(/=([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : bytes
  return pageText(Buffer.from(plain.slice(plain.indexOf('<'), plain.lastIndexOf('>') + 1), 'latin1').toString())
}

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

/** The notes, the diagrams and the comments of a slide. */
function besides(slide: string, rootOf: RootOf): string[] {
  const relations = rootOf(slide.replace('slides/', 'slides/_rels/').concat('.rels'))
  return [...targetsOf(relations, 'ppt/slides/').values()].filter(
    (name) => /^ppt\/(?:notesslides|comments|diagrams\/data|charts\/chart)/.test(name) && rootOf(name),
  )
}

/** The text that replaces these elements. */
const SIGNS: Record<string, string> = { tab: '\t', ptab: '\t', br: '\n', cr: '\n', nobreakhyphen: '-' }

/**
 * Elements that are skipped: formatting, moved text, slide fields such as numbers, readings of characters, and
 * fallback copies for programs that cannot render the first version.
 */
const UNREAD = /pr$|^(?:movefrom|fallback|fld|rt|annotation)$/

/** The characters of the font Symbol from U+F041 on, and common ones of others. */
const SYMBOL = 'ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ'
const OTHER_SIGNS: Record<number, string> = {
  163: '≤',
  168: '☐',
  176: '°',
  177: '±',
  179: '≥',
  183: '•',
  252: '✓',
  254: '☑',
}
/** A sign by its number in a font, or a number of Unicode. */
const fromFont = (code: number): string =>
  code > 0xff && code < 0xe000
    ? String.fromCharCode(code)
    : (SYMBOL[(code & 0xff) - 0x41] ?? OTHER_SIGNS[code & 0xff] ?? '')

/** The sign between the parts of a formula, such as `a/b` and `x^2`, in Word and in MathML. */
const FORMULAS: Record<string, string> = {
  ...{ f: '/', ssup: '^', ssub: '_' },
  ...{ mfrac: '/', msup: '^', msub: '_' },
}
/** Elements of text. One of these names contains others in a diagram. `text` is a comment on a slide. */
const WORDS = /^(?:t|text|m[ino]|mtext)$/

/** The text of a slide, its notes, a diagram, or a chart: each series with its values. */
function partText(root: Element): string {
  if (nameOf(root) !== 'chartspace') return proseOf(root, slideNumbering())
  const pointsOf = (series: Element, part: string) => textsIn(allIn(series, part)[0], 'pt')
  const series = allIn(root, 'ser').map((one) => {
    const labels = pointsOf(one, 'cat')
    const values = pointsOf(one, 'val').map((value, at) => `${labels[at] ?? ''}\t${value}`.trim())
    return [...pointsOf(one, 'tx').slice(0, 1), ...values].join('\n')
  })
  return [...textsIn(allIn(root, 'title')[0], 't'), ...series].join('\n')
}

/** One line per paragraph of a Word document (`w:p`) or slide (`a:p`), and per table row. */
function proseOf(root: Element, markOf: MarkOf = () => ''): string {
  const lines: string[] = []
  let line = ''
  const walk = (element: Element): void => {
    for (const child of element.children) {
      const name = nameOf(child)
      if (WORDS.test(name) && !child.children.length)
        line += (child.textContent ?? '').replace(/[\uf041-\uf0ff]/g, (sign) => fromFont(sign.charCodeAt(0)))
      else if (name === 'sym') line += fromFont(Number.parseInt(attributeOf(child, 'char') ?? '', 16))
      else if (FORMULAS[name]) {
        const inner = [...child.children].filter((one) => !UNREAD.test(nameOf(one))).map((one) => proseOf(one))
        line += inner.map((part) => (/[^\p{L}\p{N}.]/u.test(part) ? `(${part})` : part)).join(FORMULAS[name])
      } else if (SIGNS[name]) line += SIGNS[name]
      else if (name === 'tr')
        lines.push(
          cellsOf(child)
            .map((cell) => proseOf(cell, markOf).replace(/\s+/g, ' ').trim())
            .join('\t'),
        )
      else if (!UNREAD.test(name)) {
        const look = name === 'r' ? [...child.children].find((one) => nameOf(one) === 'rpr') : undefined
        // A run marked as hidden.
        if (allIn(look, 'vanish').length) continue
        const isRaised =
          attributeOf(allIn(look, 'vertalign')[0]) === 'superscript' ||
          [attributeOf(look, 'baseline'), attributeOf(allIn(look, 'position')[0])].some((height) => Number(height) > 0)
        // `10` with a raised `6` is not 106.
        if (isRaised && /\d$/.test(line) && /^\s*[-−]?\d/.test(child.textContent ?? '')) line += '^'
        // A text box may be inside a paragraph.
        if (name === 'p' && line) lines.push(line)
        if (name === 'p') line = ''
        if (name === 'rad' || name === 'msqrt') line += '√'
        walk(child)
      }
      if (name === 'p' || name === 'cm') {
        lines.push(markOf(child) + line)
        line = ''
      }
    }
  }
  if (!root.children.length && WORDS.test(nameOf(root))) return root.textContent ?? ''
  walk(root)
  return [...lines, line].join('\n').trim()
}

/** The cells of a row, including those inside a control or a tracked change. */
const cellsOf = (row: Element): Element[] =>
  [...row.children].flatMap((child) => (nameOf(child) === 'tc' ? [child] : cellsOf(child)))
