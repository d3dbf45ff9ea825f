import { type Block, plain, type Text } from '../blocks-model'

/** A line of a slide: a paragraph, or a list item with its depth and mark. */
export type Line = { text: Text; depth: number; mark: 'bullet' | 'quote' | number | null; heading: boolean }
export type Visual = Extract<Block, { type: 'table' | 'chart' | 'image' | 'code' }>

/** The content of one slide: lines, a visual, or both side by side. */
export type Slide = { title: string; continued: boolean; lines: readonly Line[]; visual: Visual | null }

/** Letters per line across the slide and across half of it, and lines per slide. */
const WIDE = 92
const HALF = 42
const MAX_LINES = 13
const MAX_ROWS = 11
const MAX_CODE_LINES = 22
const MAX_BESIDE = 8
/** Code with more lines gets a slide of its own. */
const MAX_INLINE = 8

/**
 * Splits a document into slides. Each heading of the two highest levels begins a new slide. Content that does not fit
 * continues on the next slide, so that nothing is cut or becomes too small to read.
 */
export function slidesOf(title: string, blocks: readonly Block[]): Slide[] {
  const slides: Slide[] = []
  let section = title
  let lines: Line[] = []
  let begun = false
  const put = (slide: Pick<Slide, 'lines' | 'visual'>) => {
    slides.push({ title: section, continued: begun, ...slide })
    begun = true
  }
  const flush = () => {
    for (const part of inParts(lines, WIDE, MAX_LINES)) put({ lines: part, visual: null })
    lines = []
  }
  const end = () => {
    flush()
    // A heading without content has a slide, too.
    if (!begun && section !== title) put({ lines: [], visual: null })
  }
  for (const block of blocks) {
    if (block.type === 'heading' && block.level <= 2) {
      end()
      section = plain(block.text) || title
      begun = false
    } else if (
      block.type === 'table' ||
      block.type === 'chart' ||
      block.type === 'image' ||
      (block.type === 'code' && block.text.split('\n').length > MAX_INLINE)
    ) {
      const named = lines.at(-1)?.heading ? lines.pop() : undefined
      if (named) {
        flush()
        section = plain(named.text)
        begun = false
      }
      const beside = block.type !== 'code' && !isWide(block) && heightOf(lines, HALF) <= MAX_BESIDE ? lines : []
      if (beside.length) lines = []
      flush()
      visualParts(block).forEach((visual, at) => {
        put({ lines: at === 0 ? beside : [], visual })
      })
    } else lines.push(...linesOf(block, 0))
  }
  end()
  return slides
}

/** A table with many columns or much text needs the whole slide. */
function isWide(visual: Visual): boolean {
  if (visual.type !== 'table') return false
  const longest = visual.header.map((name, at) =>
    Math.max(plain(name).length, ...visual.rows.map((row) => plain(row[at] ?? []).length)),
  )
  return longest.reduce((sum, one) => sum + one, 0) > HALF
}

function visualParts(visual: Visual): Visual[] {
  if (visual.type === 'table') {
    return chunks(visual.rows, MAX_ROWS).map((rows) => ({ ...visual, rows }))
  }
  if (visual.type !== 'code') return [visual]
  return chunks(visual.text.split('\n'), MAX_CODE_LINES).map((lines) => ({ ...visual, text: lines.join('\n') }))
}

function chunks<Item>(items: readonly Item[], max: number): Item[][] {
  const parts = Array.from({ length: Math.ceil(items.length / max) }, (_, at) => items.slice(at * max, (at + 1) * max))
  return parts.length ? parts : [[]]
}

const rowsOf = ({ text, depth }: Line, letters: number): number =>
  plain(text)
    .split('\n')
    .reduce((sum, one) => sum + Math.max(1, Math.ceil(one.length / (letters - depth * 4))), 0)

export const heightOf = (lines: readonly Line[], letters: number): number =>
  lines.reduce((sum, line) => sum + rowsOf(line, letters), 0)

function inParts(lines: readonly Line[], letters: number, max: number): Line[][] {
  const parts: Line[][] = []
  let height = 0
  for (const line of lines.flatMap((one) => split(one, letters * max))) {
    const rows = rowsOf(line, letters)
    const last = parts.at(-1)
    // Reserves space after a heading, so that it is not the last line of a slide.
    const needed = line.heading ? rows + 2 : rows
    if (last && height + needed <= max) {
      last.push(line)
      height += rows
    } else {
      // Keeps the line before code together with the code.
      const before =
        last && last.length > 1 && line.mark === null && line.text.length === 1 && line.text[0]!.code === true
          ? [last.pop()!]
          : []
      parts.push([...before, line])
      height = rows + heightOf(before, letters)
    }
  }
  return parts
}

/** Splits a paragraph that is longer than a slide at sentences. */
function split(line: Line, max: number): Line[] {
  const words = plain(line.text)
  if (words.length <= max) return [line]
  const parts = words.match(new RegExp(`[\\s\\S]{1,${max}}(?:(?<=[.!?])\\s+|\\s+|$)|[\\s\\S]{1,${max}}`, 'g')) ?? [
    words,
  ]
  return parts.map((text) => ({ ...line, text: [{ text: text.trim() }] }))
}

function linesOf(block: Block, depth: number): Line[] {
  switch (block.type) {
    case 'heading':
      return [{ text: block.text, depth, mark: null, heading: true }]
    case 'paragraph':
      return [{ text: block.text, depth, mark: null, heading: false }]
    case 'quote':
      return block.blocks.flatMap((one) => linesOf(one, depth)).map((line) => ({ ...line, mark: line.mark ?? 'quote' }))
    case 'list':
      return block.items.flatMap((item, at) =>
        item.flatMap((one, which) => {
          const lines = linesOf(one, which || one.type === 'list' ? depth + 1 : depth)
          const mark = block.ordered ? block.start + at : 'bullet'
          return which === 0 && one.type === 'paragraph' ? lines.map((line) => ({ ...line, mark }) as Line) : lines
        }),
      )
    // Inside a list, tables become plain lines on a slide.
    case 'table':
      return [block.header, ...block.rows].map((row) => ({
        text: row.flatMap(spaced),
        depth,
        mark: null,
        heading: false,
      }))
    case 'code':
      return [{ text: [{ text: block.text, code: true }], depth, mark: null, heading: false }]
    case 'chart':
      return block.labels.map((label, at) => {
        const values = block.series.map(({ name, values }) => `${name} ${values[at] ?? '–'}${block.unit}`).join(', ')
        return { text: [{ text: `${label}: ${values}` }], depth, mark: 'bullet', heading: false }
      })
    default:
      return []
  }
}

const spaced = (text: Text, at: number): Text => (at ? [{ text: ' · ' }, ...text] : text)
