import { parse } from 'papaparse'
import { withoutFrontMatter } from './blocks-markdown'
import { readNumber } from './charts'
import { asksFor, looksLikeHeading, titleOf } from './outline-title'

/** Text in a document without supplied content. */
const OUTLINE_ONLY =
  '*This is an outline only: no language model is connected to this server that could write its text.*'
const TO_BE_WRITTEN = '*To be written.*'
const SECTIONS = ['Summary', 'Background', 'Details', 'Next steps']
const MAX_SECTIONS = 20
const MAX_INSTRUCTION = 300
/** Longer prompts are content, not instructions. */
const MAX_READ = 1_500

const CHART = /\b(chart|graph|plot|diagram)s?\b/i
const CHART_KIND: [RegExp, string][] = [
  [/\bpie\b|\bshares?\b/i, 'pie'],
  [/\bline\b|\btrend\b|\bover time\b/i, 'line'],
  [/\barea\b/i, 'area'],
]

/**
 * Builds the Markdown of a document by rules, for a server without a language model. It contains the text and data of
 * the prompt in order, or else an outline that says that its text is missing (docs/design.md 5). Invents nothing.
 */
export function outlineOf(prompt: string): { title: string; markdown: string } {
  const whole = prompt.replace(/\r\n?/g, '\n').trim()
  const { title: stated, text } = withoutFrontMatter(whole)
  const { instruction, material } = split(text)
  const named = material.startsWith('# ') ? material : instruction
  // The first line of data contains its column names.
  const isData = instruction === material && (delimitedRows(partsOf(material)[0] ?? '') || /^[|<]/.test(material))
  const title = stated ?? titleOf(isData ? '' : named)
  const chart = {
    wantsChart: CHART.test(instruction),
    kind: CHART_KIND.find(([named]) => named.test(instruction))?.[1] ?? 'bar',
    title,
  }
  const body = material ? bodyOf(material, chart) : emptyOf(instruction, chart)
  return { title, markdown: body }
}

type ChartWish = { wantsChart: boolean; kind: string; title: string }

/** Splits a prompt into the instruction and its material. */
function split(prompt: string): { instruction: string; material: string } {
  const fenced = /```[a-z]*\n([\s\S]+?)```|"""([\s\S]+?)"""/i.exec(prompt)
  // A fence with nothing but an instruction around it is the material. Any other fence is part of the text.
  const around = fenced ? [prompt.slice(0, fenced.index), prompt.slice(fenced.index + fenced[0].length)] : []
  const instructions = around.map((text) => text.trim()).filter(Boolean)
  if (
    fenced &&
    instructions.every((text) => text.length <= MAX_INSTRUCTION && !/\n\s*\n|```/.test(text) && asksFor(text))
  ) {
    return { instruction: instructions.join(' '), material: (fenced[1] ?? fenced[2])!.trim() }
  }
  const line = prompt.indexOf('\n')
  if (jsonRows(prompt)) return { instruction: '', material: prompt }
  if (line > 0) {
    const [first, rest] = [prompt.slice(0, line).trim(), prompt.slice(line + 1).trim()]
    return asksFor(first, rest) ? { instruction: first, material: rest } : { instruction: prompt, material: prompt }
  }
  const colon = /^([^:\n]{8,200}):\s+(\S[\s\S]{20,})$/.exec(prompt)
  if (colon && isInstruction(colon[1]!) && !/\b(?:sections?|columns?|title|headings?|topics?)$/i.test(colon[1]!)) {
    return { instruction: colon[1]!, material: colon[2]! }
  }
  // A prompt that is too long for an instruction is the text itself.
  const isText = prompt.length > MAX_READ
  return { instruction: prompt.slice(0, MAX_READ), material: isText ? prompt : '' }
}

const isInstruction = (line: string): boolean =>
  /\b(?:create|make|write|generate|prepare|produce|draft|build|export|turn|put|convert|format|following|report|document|spreadsheet|presentation|slides|csv|table|chart|pdf)\b/i.test(
    line,
  ) && line.length <= MAX_INSTRUCTION

/** The supplied text by paragraph. Data becomes tables, and lines that look like headings become headings. */
function bodyOf(material: string, chart: ChartWish): string {
  const whole = jsonRows(material)
  if (whole) return tableOf(whole, chart)
  const parts = partsOf(material)
  const { title } = chart
  // A text with marked headings needs no further ones.
  const isMarked = parts.filter((part) => /^#{1,6}\s/.test(part)).length > 1
  return parts
    .map((part, at) => {
      if (/^\s*(```|~~~|#{1,6}\s|[-*+]\s|\d+[.)]\s|>|\|)/.test(part)) return part
      const rows =
        jsonRows(part) ?? delimitedRows(part) ?? labelled(part) ?? (part.includes('\n') ? null : pairRows(part))
      if (rows) return tableOf(rows, chart)
      if (isMarked || at === parts.length - 1 || !looksLikeHeading(part)) return part
      // The first line of a text is its title.
      return `${at === 0 && part.startsWith(title) ? '#' : '##'} ${part.replace(/:$/, '')}`
    })
    .join('\n\n')
}

/** Splits at empty lines, but not inside code fences. */
function partsOf(material: string): string[] {
  const parts: string[] = []
  let open = false
  let lines: string[] = []
  const flush = () => {
    if (lines.some((line) => line.trim())) parts.push(lines.join('\n'))
    lines = []
  }
  for (const line of material.split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) open = !open
    if (!open && !line.trim()) flush()
    else lines.push(line)
  }
  flush()
  return parts
}

function tableOf(rows: Rows, { wantsChart, kind, title }: ChartWish): string {
  const chart = wantsChart ? chartFence(rows, kind, title) : null
  return chart ? `${markdownTable(rows)}\n\n${chart}` : markdownTable(rows)
}

/** A document without supplied text: the data in the instruction, its column names, or its sections, empty. */
function emptyOf(instruction: string, chart: ChartWish): string {
  const rows = pairRows(instruction)
  if (rows) return tableOf(rows, chart)
  const columns = namedIn(instruction, 'columns?|fields?')
  if (columns.length > 1) return `${markdownTable([columns, columns.map(() => '')])}\n\n${OUTLINE_ONLY}`
  const named = namedIn(instruction, 'sections?|chapters?|headings?|parts|topics|slides(?:\\s+(?:on|about|for))?')
  const sections = (named.length > 1 ? named : SECTIONS).map((name) => `## ${name}\n\n${TO_BE_WRITTEN}`)
  return [OUTLINE_ONLY, ...sections].join('\n\n')
}

/** The names after `sections:` or `with columns`. */
function namedIn(instruction: string, what: string): string[] {
  const found = new RegExp(
    `\\b(?:${what})(?:\\s*(?::|named|called|for|on|like|are))?\\s+((?:(?!\\b(?:about|on)\\b)[^.\\n]){3,400})`,
    'i',
  ).exec(instruction)
  if (!found) return []
  const names = found[1]!.split(/[,;]\s*(?:and\s+)?|(?<!\s)\s+and\s+/i).map((name) =>
    name
      .trim()
      .replace(/^["“']|["”']$/g, '')
      .trim(),
  )
  return names
    .filter((name) => name && name.length <= 60)
    .slice(0, MAX_SECTIONS)
    .map((name) => name[0]!.toUpperCase() + name.slice(1))
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
