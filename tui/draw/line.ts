/** Meaning of a colour. A symbol and a word always carry the same meaning (docs/operating.md 3.3). */
export type Tone = 'good' | 'warn' | 'bad' | 'retry' | 'dim' | 'strong'
export type Span = { text: string; tone?: Tone | undefined; inverse?: boolean | undefined }
/** One row of the screen. */
export type Line = readonly Span[]

export const textSpan = (text: string, tone?: Tone): Span => ({ text, tone })
export const line = (...parts: (string | Span)[]): Line =>
  parts.map((part) => (typeof part === 'string' ? { text: part } : part))

/** A line of details: its label, and what it says. */
export const fact = (label: string, ...parts: (string | Span)[]): Line =>
  line(textSpan(` ${label.padEnd(9)}`, 'dim'), ...parts)

export const widthOf = (spans: Line): number => spans.reduce((sum, { text }) => sum + Bun.stringWidth(text), 0)
export const textOf = (spans: Line): string => spans.map(({ text }) => text).join('')

/** The text in exactly this many cells: cut with an ellipsis, or filled with blanks. */
export function fit(given: string, width: number, side: 'left' | 'right' = 'left'): string {
  const text = flat(given)
  const own = Bun.stringWidth(text)
  if (own > width) return width < 1 ? '' : pad(`${beginning(text, width - 1)}…`, width, side)
  return pad(text, width, side)
}

/** At most this many cells. Omits a wide character that would be cut in half. */
function beginning(text: string, width: number): string {
  const cut = Bun.sliceAnsi(text, 0, width)
  return Bun.stringWidth(cut) > width ? Bun.sliceAnsi(text, 0, width - 1) : cut
}

/** Replaces line breaks and tabs, which clean texts may contain but a row may not. */
const flat = (text: string): string => (/[\t\n]/.test(text) ? text.replaceAll(/[\t\n]/g, ' ') : text)

/** A wide character that was cut in half leaves a cell empty. */
function pad(text: string, width: number, side: 'left' | 'right'): string {
  const blanks = ' '.repeat(Math.max(0, width - Bun.stringWidth(text)))
  return side === 'left' ? text + blanks : blanks + text
}

/** The line in exactly this many cells. */
export function fitLine(spans: Line, width: number): Line {
  const fitted: Span[] = []
  let remaining = width
  for (const original of spans) {
    const span = { ...original, text: flat(original.text) }
    const own = Bun.stringWidth(span.text)
    if (own > remaining) {
      fitted.push({ ...span, text: fit(span.text, remaining) })
      return fitted
    }
    fitted.push(span)
    remaining -= own
  }
  return remaining ? [...fitted, { text: ' '.repeat(remaining) }] : fitted
}

/** The line in this many cells. The last cell is blank, so that the line does not run into the next text. */
const fitApart = (spans: Line, width: number): Line => [...fitLine(spans, Math.max(0, width - 1)), { text: ' ' }]

/** Left and right ends of one row. The left end is cut if both do not fit. */
export function between(left: Line, right: Line, width: number): Line {
  const room = Math.max(0, width - widthOf(right))
  return [...(/^\S/.test(textOf(right)) && room ? fitApart(left, room) : fitLine(left, room)), ...right]
}

/** Texts at fixed columns. `at` is where each begins. A text that is too long is cut before the next. */
export function placed(width: number, ...parts: (readonly [at: number, text: string | Span | Line])[]): Line {
  const spans: Span[] = []
  for (const [place, [at, what]] of parts.entries()) {
    const next = parts[place + 1]?.[0]
    const before = widthOf(spans)
    if (before < at) spans.push({ text: ' '.repeat(at - before) })
    const own = typeof what === 'string' ? line(what) : Array.isArray(what) ? what : line(what as Span)
    spans.push(...(next === undefined ? fitLine(own, Math.max(0, width - at)) : fitApart(own, Math.max(1, next - at))))
  }
  return fitLine(spans, width)
}

/** Two panes of these widths beside each other, with a rule between them. */
export const beside = (
  left: readonly Line[],
  right: readonly Line[],
  widths: readonly [number, number],
  height: number,
) =>
  Array.from(
    { length: height },
    (_, at): Line => [
      ...fitLine(left[at] ?? [], widths[0]),
      textSpan(' │', 'dim'),
      ...fitLine(right[at] ?? [], widths[1]),
    ],
  )

/** The same line, marked as the chosen one. */
export const chosen = (spans: Line): Line => spans.map((span) => ({ ...span, inverse: true }))

/** Breaks a text into rows of at most this many cells, between words if possible. */
export function wrapped(text: string, width: number, max = 100): string[] {
  const rows = Bun.wrapAnsi(text, Math.max(1, width), { hard: true, trim: true }).split('\n')
  return rows.length > max ? [...rows.slice(0, max - 1), fit(`${rows[max - 1]}…`, width)] : rows
}

const LEVELS = '▁▂▃▄▅▆▇█'
const PARTS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** A share of 0 to 1 as a bar, with partial block characters for the remainder. */
export function bar(share: number, width: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * width * 8)
  const full = Math.floor(eighths / 8)
  const part = full < width ? PARTS[eighths % 8]! : ''
  return `${'█'.repeat(full)}${part}`.padEnd(width, '░')
}

/** The newest values as one row of small columns. A dot is zero. */
export function spark(values: readonly number[], width: number): string {
  const shown = values.slice(-width)
  const top = Math.max(...shown, 0)
  return shown
    .map((value) => (value <= 0 || !top ? '·' : LEVELS[Math.min(7, Math.floor((value / top) * 7.999))]!))
    .join('')
}

/** A column chart of this many rows with its scale, top row first. */
export function chart(values: readonly number[], rows: number, width: number): string[] {
  const shown = values.slice(-(width - 6))
  const top = scaleOf(Math.max(...shown, 0), rows)
  const step = top / rows
  const drawn = Array.from({ length: rows }, (_, at) => {
    const floor = top - step * (at + 1)
    const cells = shown.map((value) => {
      const over = (value - floor) / step
      if (over >= 1) return '█'
      return over <= 0 ? ' ' : LEVELS[Math.min(7, Math.floor(over * 8))]!
    })
    return `${String(Math.round(top - step * at)).padStart(4)} ┤${cells.join('')}`
  })
  return [...drawn, `   0 ┼${'─'.repeat(shown.length)} now`]
}

/** A round number at or above the highest value, so that each step of the scale is an integer. */
function scaleOf(max: number, rows: number): number {
  const need = Math.max(1, Math.ceil(max / rows))
  const size = 10 ** Math.floor(Math.log10(need))
  const step = [1, 1.5, 2, 2.5, 5, 10].map((one) => one * size).find((one) => one >= need && Number.isInteger(one))
  return (step ?? need) * rows
}
