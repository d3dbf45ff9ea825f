import { withoutFrontMatter } from './blocks-markdown'
import {
  asksFor,
  chartFence,
  delimitedRows,
  jsonRows,
  labelled,
  looksLikeHeading,
  markdownTable,
  pairRows,
  type Rows,
  titleOf,
} from './outline-reading'

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
