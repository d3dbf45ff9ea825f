import { parse } from 'papaparse'
import { shorten } from '../../kernel/text'
import { readNumber } from './charts'

const MAX_TITLE = 90
const NAMELESS = 'Document'
const MAX_REQUEST = 300
/** Number of characters searched for a title, which is near the beginning. */
const MAX_READ = 1_000

const NAMED = /\b(?:titled|entitled|called|named|with the title|title\s*[:=])\s*["“'«]?([^"”'»\n.;]{2,90})["”'»]?/i
/** The topic in a sentence that requests a document. */
const ABOUT = /\b(?:about|regarding|covering|describing|explaining|on the subject of|on)\s+(.{2,})$/i
const MADE =
  /^(?:please\s+)?(?:can you\s+|could you\s+)?(?:create|make|write|generate|prepare|produce|draft|build|give me|export|turn|put|convert)\b\s*(?:me\s+)?/i
const FILES = 'pdf|word|docx|excel|xlsx|csv|powerpoint|pptx|markdown'
const KINDS = new RegExp(
  `^(?:(?:the following|this|these|it|an?|the|my|our|into|one[- ]page|short|brief|detailed|new|bar|pie|line|area|${FILES})\\s+)+`,
  'i',
)
const FILE_LAST = new RegExp(`\\b(?:${FILES})\\s+$`, 'i')
const THING =
  'document|file|report|presentation|deck|slides?|slideshow|spreadsheet|workbook|sheet|table|chart|graph|paper|letter|memo|text|notes?|list|data|outline'
const THINGS = new RegExp(`^(?:${THING})(?:\\s+deck)?\\b\\s*`, 'i')
const LINKS = /^(?:about|on|of|for|regarding|covering|that|which|from|with|describing|explaining|out of)\b\s*/i
/** A request names what to make, or refers to its material. */
const REQUEST = new RegExp(`\\b(?:this|these|following|below|it|me|${THING}|${FILES})\\b`, 'i')
const DETERMINED = /\b(?:an?|the|this|these|following|my|our|me|it|into|as|from)\b|:\s*$/i
const WITH =
  /\bwith\s+(?:the\s+)?(?:following\s+)?(?:sections?|columns?|fields?|chapters?|slides|an?\s+(?:\w+\s+)?(?:chart|table|graph))\b.*$/i
const TAIL =
  /(?<!\s)\s+(?:as|into|in)\s+(?:an?\s+)?(?:pdf|word|docx|excel|xlsx|csv|powerpoint|pptx|spreadsheet|presentation|document|file)\b.*$/i

/**
 * Whether a line requests a document and is not part of one: `Make a report of this:`, not `Draft budget 2026`. Above a
 * text without data, `Build a table for the garden` is a heading.
 */
export const asksFor = (line: string, below = ''): boolean =>
  line.length <= MAX_REQUEST &&
  !(below.trim() && looksLikeHeading(line) && FURNITURE.test(line) && !holdsRows(below.slice(0, MAX_READ))) &&
  MADE.test(line) &&
  !NO_REQUEST.test(line.replace(MADE, '')) &&
  REQUEST.test(line) &&
  DETERMINED.test(line)

/** A request for something made of data, without a reference to the text below. */
const FURNITURE = new RegExp(
  `^(?!.*(?:\\b(?:this|these|those|following|below|it|${FILES})\\b|:$)).*\\b(?:table|chart|graph|sheet|workbook)s?\\b`,
  'i',
)

/** Whether any part of a text is a table, a list or values. */
const holdsRows = (text: string): boolean =>
  text
    .split(/\n[ \t]*\n/)
    .some(
      (part) =>
        /^\s*(?:[|[{\-*+•]|```|\d+[.)])/.test(part) || delimitedRows(part) || labelled(part) || pairRows(part.trim()),
    )

/** After a verb: `Draft of the report` is a heading, and so is `Write it down`. */
const NO_REQUEST =
  /^(?:of|in|for|to|at|by|on|off|up|down)\b|^(?:it|this|them)\s+(?:down|up|out|off|right|simple|yourself|happen|work|count|better|last|easy|real|new)\b/i

/**
 * Whether a line looks like a heading. A long line that ends with a colon introduces the text below. The limit is lower
 * for scripts without capitals, because their letters express more.
 */
export const looksLikeHeading = (line: string): boolean =>
  !/[\n[\]|`]/.test(line) &&
  !/[.!?,;。！？，、；：؟،؛।]$/.test(line.trim()) &&
  !(line.trim().endsWith(':') && line.trim().split(/\s+/).length > 5) &&
  (/^[\p{Lu}\p{N}]/u.test(line.trim()) ? line.length <= 70 : /^\p{Lo}.{0,29}$/u.test(line.trim()))

/** A title for a prompt: its heading as written, else the name or topic of a request. Strips only request words. */
export function titleOf(whole: string): string {
  const text = whole.slice(0, MAX_READ).trim()
  const [first = ''] = text.split('\n')
  const heading = /^#{1,6}[ \t]+/.exec(first)
  if (heading)
    return (
      shorten(
        first
          .slice(heading[0].length)
          .replace(/(?<=[ \t])#+$/, '')
          .trim(),
        MAX_TITLE,
      ) || NAMELESS
    )
  const isAlone = first === text
  const asks = isAlone ? MADE.test(first) : asksFor(first, text.slice(first.length))
  if (!asks && !isAlone && looksLikeHeading(first)) return shorten(first.replace(/:$/, ''), MAX_TITLE)
  const named = asks || isAlone ? NAMED.exec(text)?.[1]?.trim() : undefined
  if (named) return shorten(named, MAX_TITLE)
  const [sentence = ''] = text.split(/\n|(?<=[.!?])\s/)
  const [before = ''] = asks ? sentence.split(/:\s/) : [sentence]
  const about = asks ? ABOUT.exec(before.replace(TAIL, ''))?.[1] : undefined
  const rest = about ?? (asks || isAlone ? strip(before) : before)
  const words = rest
    .replace(WITH, '')
    .replace(TAIL, '')
    .replace(/(?<![\s:;,.!?-])[\s:;,.!?-]+$/, '')
    .trim()
  return words ? shorten(words[0]!.toUpperCase() + words.slice(1), MAX_TITLE) : NAMELESS
}

/** Removes the words that request a document and name its kind. */
function strip(sentence: string): string {
  let left = sentence.replace(MADE, '')
  if (left === sentence && !namesDocument(left)) return left
  for (let before = ''; before !== left; ) {
    before = left
    left = left.replace(KINDS, '').replace(THINGS, '').replace(LINKS, '')
  }
  return /^(?:(?:with|and)\b|(?:this|these|it|the following)\s*:?$)/i.test(left) ? '' : left
}

/** `a report on tides` names a document, `Presentation skills` and `The line of duty` do not. */
function namesDocument(words: string): boolean {
  const kinds = KINDS.exec(words)?.[0] ?? ''
  const rest = words.slice(kinds.length)
  const thing = THINGS.exec(rest)?.[0] ?? ''
  const isNamed = thing !== '' || FILE_LAST.test(kinds)
  return isNamed && LINKS.test(rest.slice(thing.length))
}

const MAX_ROWS = 2_000
const MAX_COLUMNS = 40

/** Rows of the same length, the header first. */
export type Rows = string[][]

/** Rows of CSV, tab- or semicolon-separated text: at least two, all of the same length. Otherwise null. */
export function delimitedRows(text: string): Rows | null {
  const lines = text.trim().split('\n')
  if (lines.length < 2 || /^\s*\|/.test(lines[0]!)) return null
  for (const delimiter of ['\t', ';', ',']) {
    const { data, errors } = parse<string[]>(text.trim(), { delimiter, skipEmptyLines: 'greedy' })
    const width = data[0]?.length ?? 0
    if (errors.length || width < 2 || width > MAX_COLUMNS || !data.every((row) => row.length === width)) continue
    // Sentences have commas too, but the cells of a table are short.
    if (data.some((row) => row.some((cell) => cell.length > 120))) continue
    // Commas in sentences are followed by a space, and a line ends with punctuation.
    if (
      delimiter === ',' &&
      (/[.!?]\s*$/.test(lines[0]!) ||
        (lines.some((line) => /[.!?]\s*$/.test(line)) && lines.some((line) => /,\s/.test(line))))
    )
      continue
    return data.slice(0, MAX_ROWS + 1).map((row) => row.map((cell) => cell.trim()))
  }
  return null
}

/**
 * Rows of JSON records: an array of objects, of arrays or of values, an object that contains one such array, possibly
 * nested, a single object, or one object per line. Null for anything else.
 */
export function jsonRows(text: string): Rows | null {
  const value = readJson(text)
  const list = Array.isArray(value) ? value : (onlyListIn(value) ?? (isRecord(value) ? [value] : null))
  if (!list?.length) return null
  const items = list.slice(0, MAX_ROWS) as unknown[]
  if (items.every((item) => item === null || typeof item !== 'object'))
    return [['Value'], ...items.map((item) => [cellOf(item)])]
  if (items.every(Array.isArray)) {
    const width = Math.min(MAX_COLUMNS, Math.max(...items.map(({ length }) => length)))
    return width ? items.map((item) => Array.from({ length: width }, (_, at) => cellOf(item[at]))) : null
  }
  if (!items.every(isRecord)) return null
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))].slice(0, MAX_COLUMNS)
  return names.length ? [names, ...items.map((item) => names.map((name) => cellOf(item[name])))] : null
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

const MAX_WRAPPERS = 4

/** The only array in an object: `{"people": [...], "total": 2}`, or `{"data": {"people": [...]}}`. */
function onlyListIn(value: unknown, depth = 0): unknown[] | null {
  if (!isRecord(value) || depth > MAX_WRAPPERS) return null
  const members = Object.values(value)
  const lists = members.filter((one) => Array.isArray(one) && one.some((item) => typeof item === 'object'))
  if (lists.length === 1) return lists[0] as unknown[]
  const records = members.filter(isRecord)
  return lists.length === 0 && records.length === 1 ? onlyListIn(records[0], depth + 1) : null
}

/** Keeps a number as written, because a cell is text. This preserves digits that a double would lose. */
const asWritten = (_: string, value: unknown, { source }: { source?: string } = {}): unknown =>
  typeof value === 'number' ? source : value

/** Parses a JSON text, or one JSON value per line. Undefined if it is neither. */
function readJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text, asWritten)
  } catch {
    const lines = text.split('\n').filter((line) => line.trim())
    try {
      return lines.length > 1 ? lines.map((line) => JSON.parse(line, asWritten) as unknown) : undefined
    } catch {
      return undefined
    }
  }
}

const cellOf = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)

/** A longer line is prose. */
const MAX_PAIRS_CHARS = 4_000
const PAIR =
  /([\p{L}][\p{L}\p{N} _/-]{0,40}?)(?:(?<!\s)\s+)?(?:[:=]\s*)?([-+]?[$€£]?\d[\d.,]{0,30}(?:\s*(?:%|[kKmM€$£]|EUR|USD|GBP))?)(?=\s*(?:,|;|\band\b|$))/gu

/** Rows of pairs in a line, such as `Q1 10, Q2 20 and Q3 15`. Null if there are fewer than two. */
export function pairRows(line: string): Rows | null {
  if (line.length > MAX_PAIRS_CHARS) return null
  const start = line.indexOf(':')
  const list = start > 0 && start < 80 && !/^\s*[-+$€£]?\d/.test(line.slice(start + 1)) ? line.slice(start + 1) : line
  const pairs = [...list.matchAll(PAIR)].map(([, name, value]) => [
    name!.replace(/^and(?:\s+|$)/, '').trim(),
    value!.trim(),
  ])
  if (pairs.length < 2 || pairs.some(([name, value]) => !name || readNumber(value!) === null)) return null
  const pairLength = pairs.reduce((sum, [name, value]) => sum + name!.length + value!.length, 0)
  // A sentence that happens to contain numbers is not a list.
  return pairLength >= list.replace(/\band\b|[\s,:;=]/g, '').length * 0.7 ? [['', 'Value'], ...pairs] : null
}

/** Rows of `Label: value` lines. Null if any line has another form. */
export function labelled(part: string): Rows | null {
  const lines = part.split('\n').map((line) => /^\s*([^:|[<]{1,40}):\s+(\S.*)$/.exec(line))
  if (lines.length < 2 || lines.some((found) => !found)) return null
  return [['', 'Value'], ...lines.map((found) => [found![1]!.trim(), found![2]!.trim()])]
}

/** Rows as a Markdown table. */
export function markdownTable(rows: Rows): string {
  const cell = (text: string) =>
    text
      .replace(/\\/g, '\\\\')
      .replace(/\|/g, '\\|')
      .replace(/(?<!\s)\s*\n\s*/g, ' ') || ' '
  const [header = [], ...body] = rows
  const sides = header.map((_, at) => {
    const filled = body.map((row) => row[at] ?? '').filter(Boolean)
    return filled.length && filled.every((one) => readNumber(one) !== null) ? '--:' : '---'
  })
  return [header, sides, ...body].map((row, at) => `| ${row.map(at === 1 ? String : cell).join(' | ')} |`).join('\n')
}

const MAX_CHARTED = 40

/** A chart fence from rows with a column of names and at least one of numbers. Null if there are no such columns. */
export function chartFence(rows: Rows, kind: string, title: string): string | null {
  const [header = [], ...body] = rows
  const numeric = header.map((_, at) => {
    const filled = body.map((row) => row[at] ?? '').filter(Boolean)
    return filled.length > 0 && filled.every((one) => readNumber(one) !== null)
  })
  const named = numeric.indexOf(false)
  const shown = numeric.flatMap((is, at) => (is && at !== named ? [at] : [])).slice(0, 4)
  if (named < 0 || !shown.length || body.length < 2 || body.length > MAX_CHARTED) return null
  const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  const lines = rows.map((row) => [named, ...shown].map((at) => quoted(row[at] ?? '')).join(','))
  return ['```chart', `type: ${kind}`, `title: ${title}`, ...lines, '```'].join('\n')
}
