import { joinLines } from '../../text'

/** A piece of text on a PDF page. `transform` positions its start on the page, in points from the bottom. */
export type Item = { str: string; dir: string; width: number; height: number; transform: readonly number[] }

/** A piece of text in the upright orientation of the page. */
type Piece = { text: string; left: number; right: number; y: number; size: number; isRtl: boolean }
/** Pieces at the same height, from left to right. */
type Row = Piece[]
type Line = { text: string; left: number; right: number; y: number; size: number }

/** Minimum gaps in ems: between columns, between table cells, and between words. */
const COLUMN_GAP = 0.6
const CELL_GAP = 2
const WORD_GAP = 0.12
/** Minimum overlap of pieces with a letter that is drawn twice, in ems. */
const OVERLAP = 0.2
/** Lines of columns are longer than table cells, and there are several of them. */
const MIN_CHARS = 18
const MIN_ROWS = 2
/** A narrower gap, in ems, may be between words. It is one between columns only in more rows. */
const SURE_GAP = 0.8
const MIN_UNSURE_ROWS = 5
const MAX_DEPTH = 6
const ENDS = /[.!?:。！？]["'”’»)\]]*$/

/**
 * The text of a page in reading order, one line per paragraph. Columns follow each other, however the file draws them,
 * and words hyphenated at line ends are joined. Separate cells in a row have ` | ` between them, so that no sentence
 * continues from one cell to the next.
 */
export function layOut(items: readonly Item[]): string {
  const drawn = new Set<string>()
  const written = items.filter(({ str, transform: [, , , , x = 0, y = 0] }) => {
    // Bold letters and shadows may be a text that is drawn twice, a little apart.
    const near = [-1, 0, 1].flatMap((right) =>
      [-1, 0, 1].map((up) => `${Math.round(x) + right} ${Math.round(y) + up} ${str}`),
    )
    const isTwice = near.some((place) => drawn.has(place))
    drawn.add(near[4]!)
    return str.trim() && !isTwice
  })
  const turned = Map.groupBy(written, ({ transform: [a = 1, b = 0] }) => (Math.round(Math.atan2(b, a) / RIGHT) + 4) % 4)
  return [...turned.entries()]
    .sort(([, one], [, other]) => other.length - one.length)
    .flatMap(([quarters, own]) => paragraphsOf(blocksOf(rowsOf(own.map((item) => upright(item, quarters))), 0)))
    .join('\n\n')
}

/** Paragraphs at the top and the bottom of a page that may be those of every page, and their length. */
const MAX_EDGE = 2
const MAX_EDGE_CHARS = 200

/**
 * Joins the texts of pages. A sentence continues on the next page, and what stands on many pages at the top or bottom
 * is kept once, at the end: the name of a book, but no page numbers.
 */
export function joinPages(pages: readonly string[]): string {
  const all = pages.map((text) => text.split('\n\n'))
  /** The paragraph itself, and as it would be with each of its numbers as a page number. */
  const formsOf = (text: string, page: number): string[] =>
    text.length > MAX_EDGE_CHARS
      ? []
      : [
          text,
          ...Array.from(text.matchAll(/\d{1,4}/g), ({ 0: number, index }) =>
            [text.slice(0, index), Number(number) - page, text.slice(index + number.length)].join('#'),
          ),
        ]
  const counts = new Map<string, number>()
  for (const [page, parts] of all.entries()) {
    const edges = new Set(
      [...parts.slice(0, MAX_EDGE), ...parts.slice(-MAX_EDGE)].flatMap((part) => formsOf(part, page)),
    )
    for (const form of edges) counts.set(form, (counts.get(form) ?? 0) + 1)
  }
  const isRunning = (form: string) => counts.get(form)! >= Math.max(2, pages.length / 3)
  const running = new Set<string>()
  const paragraphs: string[] = []
  for (const [page, parts] of all.entries()) {
    const own = parts.filter((part, at) => {
      if ((at >= MAX_EDGE && at < parts.length - MAX_EDGE) || !formsOf(part, page).some(isRunning)) return true
      if (isRunning(part)) running.add(part)
      return false
    })
    const last = paragraphs.at(-1)
    if (last && own[0] && !ENDS.test(last) && /^[\p{Ll}\p{Lo}]/u.test(own[0]))
      paragraphs.push(joinLines([paragraphs.pop()!, own.shift()!]))
    paragraphs.push(...own)
  }
  return [...paragraphs, ...running].join('\n\n')
}

const RIGHT = Math.PI / 2
/** Ligatures, and the contextual forms of letters. */
const DRAWN = /[\ufb00-\ufdff\ufe70-\ufefc]+/g
/** Note numbers and powers are smaller than the adjacent text by this factor, and short. */
const SMALL = 0.85
const MAX_RAISED_CHARS = 4

function upright({ str, dir, width, height, transform }: Item, quarters: number): Piece {
  const [a = 1, b = 0, , , x = 0, up = 0] = transform
  const [left, y] = [
    [x, up],
    [up, -x],
    [-x, -up],
    [-up, x],
  ][quarters] as [number, number]
  // Replaces presentation forms with normal letters.
  const text = str.replace(DRAWN, (letters) => letters.normalize('NFKC'))
  return { text, left, right: left + width, y, size: height || Math.hypot(a, b) || 1, isRtl: dir === 'rtl' }
}

function rowsOf(pieces: readonly Piece[]): Row[] {
  const rows: Row[] = []
  let main: Piece | undefined
  for (const piece of [...pieces].sort((one, other) => other.y - one.y)) {
    const [large, small] = main && main.size < piece.size ? [piece, main] : [main, piece]
    const isRaised = large && small.size < SMALL * large.size && small.text.trim().length <= MAX_RAISED_CHARS
    const reach = 0.5 * (isRaised ? large.size : Math.min(large?.size ?? 0, small.size))
    if (main && main.y - piece.y < reach) {
      rows.at(-1)!.push(piece)
      if (large === piece) main = piece
    } else {
      rows.push([piece])
      main = piece
    }
  }
  return rows.map((row) => row.sort((one, other) => one.left - other.left))
}

/** Lines in reading order, grouped by column. */
function blocksOf(rows: readonly Row[], depth: number): Line[][] {
  const blocks: Line[][] = []
  let plain: Line[] = []
  for (let at = 0; at < rows.length; ) {
    const run = depth < MAX_DEPTH ? runFrom(rows, at) : null
    const end = run?.end ?? at + 1
    const isSure = run && (run.gap >= SURE_GAP || end - at >= MIN_UNSURE_ROWS)
    if (isSure && isProse(run.left) && isProse(run.right)) {
      // A column may start higher than the previous one.
      for (let above = at - 1; plain.length; above--) {
        const [row, first] = [rows[above]!, run.right[0]![0]!]
        if (row[0]!.left < run.middle || row[0]!.y - first.y >= 2 * first.size) break
        plain.pop()
        run.right.unshift(row)
      }
      blocks.push(plain, ...blocksOf(run.left, depth + 1), ...blocksOf(run.right, depth + 1))
      plain = []
    } else plain.push(...rows.slice(at, end).map(lineOf))
    at = end
  }
  return [...blocks, plain].filter(({ length }) => length > 0)
}

/** `gap`: the width of the strip in ems. */
type Run = { left: Row[]; right: Row[]; middle: number; gap: number; end: number }

/** The rows from a given one on that share an empty vertical strip, split at the strip. */
function runFrom(rows: readonly Row[], from: number): Run | null {
  let gap = widestGap(rows[from]!)
  if (!gap) return null
  const [left, right]: [Row[], Row[]] = [[], []]
  let end = from
  for (; end < rows.length; end++) {
    const middle = (gap[0] + gap[1]) / 2
    const [before, behind] = [
      rows[end]!.filter((one) => one.left < middle),
      rows[end]!.filter((one) => one.left >= middle),
    ]
    const narrower: [number, number] = [
      before.reduce((max, one) => Math.max(max, one.right), gap[0]),
      behind.reduce((min, one) => Math.min(min, one.left), gap[1]),
    ]
    if (narrower[1] - narrower[0] < COLUMN_GAP * rows[end]![0]!.size) break
    gap = narrower
    if (before.length) left.push(before)
    if (behind.length) right.push(behind)
  }
  return { left, right, middle: (gap[0] + gap[1]) / 2, gap: (gap[1] - gap[0]) / rows[from]![0]!.size, end }
}

function widestGap(row: Row): [number, number] | null {
  let best: [number, number] | null = null
  let right = row[0]!.right
  for (const piece of row) {
    const isWider = piece.left - right > (best ? best[1] - best[0] : COLUMN_GAP * piece.size)
    if (isWider) best = [right, piece.left]
    right = Math.max(right, piece.right)
  }
  return best
}

function isProse(rows: readonly Row[]): boolean {
  const lengths = rows.map((row) => row.reduce((sum, { text }) => sum + text.length, 0)).sort((a, b) => a - b)
  return rows.length >= MIN_ROWS && lengths[lengths.length >> 1]! >= MIN_CHARS
}

function lineOf(row: Row): Line {
  // Numbers and punctuation have no direction of their own.
  const letters = ({ text }: Piece) => text.match(/\p{L}/gu)?.length ?? 0
  const isRtl = row.reduce((sum, piece) => sum + (piece.isRtl ? letters(piece) : -letters(piece)), 0) > 0
  const inOrder = isRtl ? row.toReversed().map(asSpoken) : row
  let text = ''
  for (const [at, piece] of inOrder.entries()) {
    const before = inOrder[at - 1]
    const gap = before ? (isRtl ? before.left - piece.right : piece.left - before.right) / piece.size : 0
    const isCell = gap >= CELL_GAP && text.trim().length > 3
    // `10` with a raised `6` is not 106.
    const isPower =
      before && piece.size < SMALL * before.size && piece.y > before.y + 0.2 * before.size && /\d$/.test(before.text)
    if (isPower && /^\d/.test(piece.text)) text += '^'
    // A letter that is drawn twice, a little apart, is a bold one.
    const isTwice = gap < -OVERLAP && text.at(-1) === piece.text[0]
    text += (isCell ? ' | ' : gap >= WORD_GAP && !text.endsWith(' ') ? ' ' : '') + piece.text.slice(Number(isTwice))
  }
  const right = row.reduce((max, one) => Math.max(max, one.right), row[0]!.right)
  return { text: text.trim(), left: row[0]!.left, right, y: row[0]!.y, size: row[0]!.size }
}

/** A number of a line from right to left, with its punctuation behind it, as in the text: `.1791` is `1791.`. */
const asSpoken = (piece: Piece): Piece => ({ ...piece, text: piece.text.replace(/^([.,:;!?]+)(\d.*)$/s, '$2$1') })

function paragraphsOf(blocks: readonly Line[][]): string[] {
  const paragraphs: string[][] = []
  for (const block of blocks) {
    const [first, ...rest] = paragraphsIn(block)
    const last = paragraphs.at(-1)
    // A sentence continues at the top of the next column.
    if (last && !ENDS.test(last.at(-1)!) && /^\p{Ll}/u.test(first![0]!)) last.push(...first!)
    else paragraphs.push(first!)
    paragraphs.push(...rest)
  }
  return paragraphs.map(joinLines)
}

/** Splits the lines of a block into paragraphs: at a larger gap, another font size, a list mark or a short line. */
function paragraphsIn(lines: readonly Line[]): string[][] {
  const gaps = lines.slice(1).map(({ y, size }, at) => (lines[at]!.y - y) / size)
  const usual = gaps.toSorted((a, b) => a - b)[gaps.length >> 1] ?? 1
  const left = lines.reduce((min, line) => Math.min(min, line.left), Number.POSITIVE_INFINITY)
  const width = lines.reduce((max, line) => Math.max(max, line.right), left) - left
  const paragraphs: string[][] = []
  for (const [at, line] of lines.entries()) {
    const before = lines[at - 1]
    const parted =
      !before ||
      gaps[at - 1]! > 1.35 * usual ||
      Math.abs(before.size - line.size) > 0.15 * line.size ||
      /^(?:[-•*▪–]\s|(?:\d{1,3}|[a-z])[.)]\s)/.test(line.text) ||
      `${before.text}${line.text}`.includes(' | ') ||
      (before.right - left < 0.7 * width && !/^\p{Ll}/u.test(line.text)) ||
      (ENDS.test(before.text) && line.left > left + line.size && before.left < left + line.size)
    if (parted) paragraphs.push([line.text])
    else paragraphs.at(-1)!.push(line.text)
  }
  return paragraphs
}
