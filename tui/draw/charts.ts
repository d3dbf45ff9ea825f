const LEVELS = '▁▂▃▄▅▆▇█'
const PARTS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** A share of 0 to 1 as a bar; half-filled cells show what is between. */
export function bar(share: number, width: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * width * 8)
  const full = Math.floor(eighths / 8)
  const part = full < width ? PARTS[eighths % 8]! : ''
  return `${'█'.repeat(full)}${part}`.padEnd(width, '░')
}

/** The newest values as one row of small columns; a dot is zero. */
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

/** A round number above the highest value, so that each row of the scale is whole. */
function scaleOf(max: number, rows: number): number {
  const need = Math.max(1, Math.ceil(max / rows))
  const size = 10 ** Math.floor(Math.log10(need))
  const step = [1, 1.5, 2, 2.5, 5, 10].map((one) => one * size).find((one) => one >= need && Number.isInteger(one))
  return (step ?? need) * rows
}
