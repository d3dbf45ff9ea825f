export type ChartData = {
  type: 'bar' | 'line' | 'pie'
  title: string
  unit: string
  rows: readonly { label: string; value: number }[]
}

const PAIR =
  /([\p{L}][\p{L}\p{N} '&/-]{0,30}?|\d{4}|Q[1-4])(?:\s*(?::|=|–|—|\bis\b|\bat\b|\bwith\b)\s*|\s+)([$€£]?)(-?\d{1,3}(?:[,_]\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?)\s*(%|k\b|m\b|bn\b|million\b|€|\$|£)?/giu

/** The words that request a chart, before its first label. */
const FRAME = /^(?:.*\s)?(?:chart|graph|plot|infographic|pie|histogram|bars?)\s+(?:of|for|showing|about|with)\s+/i

/** The chart data that a text contains with a chart request, or null. */
export function readChart(text: string): ChartData | null {
  const low = text.toLowerCase()
  if (!/\b(chart|graph|plot|diagram|histogram|infographic|pie|bars?)\b/.test(low)) return null
  const from = Math.max(text.indexOf(':') + 1, 0)
  const rows: { label: string; value: number }[] = []
  let unit = ''
  for (const [, label, before, number, after] of text.slice(from).matchAll(PAIR)) {
    const value = Number(number!.replace(/[,_]/g, ''))
    const name = label!
      .trim()
      .replace(FRAME, '')
      .replace(/^(?:and|with|of|the)\s+/i, '')
    if (!name || !Number.isFinite(value) || rows.length === 12) continue
    unit ||= before || after || ''
    rows.push({ label: name, value })
  }
  if (rows.length < 2) return null
  const type = /\b(pie|donut|doughnut|share)\b/.test(low)
    ? 'pie'
    : /\b(line|trend|over time|area)\b/.test(low)
      ? 'line'
      : 'bar'
  return {
    type: rows.some(({ value }) => value < 0) && type === 'pie' ? 'bar' : type,
    title: titleOf(text),
    unit,
    rows,
  }
}

function titleOf(text: string): string {
  const quoted = /["“]([^"”]{2,80})["”]/.exec(text)?.[1]
  const about =
    /\b(?:chart|graph|plot|infographic|pie|histogram)\s+(?:of|for|showing|about|with)\s+(?:the\s+|our\s+|my\s+)?([^:,\n(]{2,60})/i.exec(
      text,
    )?.[1]
  // In "A chart of apples 10, pears 25" the text after "of" is the first row, not a title.
  const subject = about && !/\d\s*$/.test(about) ? about : null
  const title = (quoted ?? subject ?? 'Figures').trim().replace(/(?<!\s)\s+(?:by|per|with|in)$/i, '')
  return title.charAt(0).toUpperCase() + title.slice(1)
}
