import { parse } from 'papaparse'
import { beginningOf } from '../../kernel/text'
import { CHART_KINDS, type Chart, type ChartKind, type Series } from './blocks-model'

const MAX_LABELS = 60
const MAX_SERIES = 8
const MAX_NAME_CHARS = 80

/**
 * Parses a fence labelled `chart`: lines `type:`, `title:`, `unit:`, then CSV. The first row names the series, the
 * first column the labels. Null if there are no numbers, so that the fence stays readable.
 */
export function readChart(content: string): Chart | null {
  const lines = content.split('\n')
  const options: Record<string, string> = {}
  while (lines.length) {
    const found = /^\s*(type|title|unit)\s*:(.*)$/is.exec(lines[0]!)
    if (!found && lines[0]!.trim()) break
    lines.shift()
    if (found) options[found[1]!.toLowerCase()] = found[2]!.trim()
  }
  const { data } = parse<string[]>(lines.join('\n').trim(), { skipEmptyLines: 'greedy' })
  const kind = CHART_KINDS.find((one) => one === options.type?.toLowerCase()) ?? 'bar'
  return chartOf(data, { kind, title: options.title || null, unit: options.unit ?? '' })
}

type About = { kind: ChartKind; title: string | null; unit?: string }

/**
 * A chart from rows: the first row names the series, the first column the labels. Omits columns without numbers. Null
 * if no column remains.
 */
function chartOf(rows: readonly (readonly string[])[], { kind, title, unit }: About): Chart | null {
  const [header = [], ...all] = rows
  const body = all.slice(0, MAX_LABELS)
  const columns = header.slice(1).map((name, at) => {
    const written = body.map((row) => (row[at + 1] ?? '').trim())
    // The unit in a cell is written after its value.
    return {
      name: beginningOf(name.trim(), MAX_NAME_CHARS),
      values: written.map(readNumber),
      written,
      units: written.map((cell) => {
        const found = NUMBER.exec(cell)
        const unit = found?.[4] || found?.[2] || ''
        return unit && unit !== '%' ? ` ${unit}` : unit
      }),
    }
  })
  const drawn = columns.filter(({ values }) => values.some((value) => value !== null)).slice(0, MAX_SERIES)
  if (!drawn.length || body.length === 0) return null
  const series: Series[] = drawn.map(({ name, values, written }) => ({ name, values, written }))
  const units = new Set(drawn.flatMap(({ units, values }) => units.filter((_, at) => values[at] !== null)))
  const common = units.size === 1 ? [...units][0]! : ''
  const labels = body.map((row) => beginningOf((row[0] ?? '').trim(), MAX_NAME_CHARS))
  return { type: 'chart', kind, title, labels, series, unit: unit || common }
}

const NUMBER = /^([-+−]?)\s*(?:([$€£¥])\s*)?(\d[\d\s'’.,]*)(%|[A-Za-z€$£¥]{0,4})$/

/** The number in a cell: `1,234.50`, `€ 12`, `40 %`. Null for anything else. */
export function readNumber(cell: string): number | null {
  const found = NUMBER.exec(cell.trim())
  if (!found) return null
  const value = Number(decimal(found[3]!))
  if (!Number.isFinite(value)) return null
  return found[1] === '-' || found[1] === '−' ? -value : value
}

/** The number of decimals in a cell, and whether its thousands are separated. */
export function writtenWith(cell: string): { decimals: number; isGrouped: boolean } {
  const digits = NUMBER.exec(cell.trim())?.[3]?.trim() ?? ''
  const [whole = '', decimals = ''] = decimal(digits).split('.')
  return { decimals: decimals.length, isGrouped: digits.search(/[^\d]/) >= 0 && digits.search(/[^\d]/) < whole.length }
}

/** Reads both `1.234,5` and `1,234.5`. A single comma before three digits separates thousands. */
function decimal(written: string): string {
  const digits = written.replace(/[\s'’]/g, '')
  const [dot, comma] = [digits.lastIndexOf('.'), digits.lastIndexOf(',')]
  if (dot >= 0 && comma >= 0) {
    return dot > comma ? digits.replaceAll(',', '') : digits.replaceAll('.', '').replace(',', '.')
  }
  if (comma < 0) return digits.split('.').length > 2 ? digits.replaceAll('.', '') : digits
  const isThousands = /^\d{1,3}(,\d{3})+$/.test(digits)
  return isThousands ? digits.replaceAll(',', '') : digits.replace(',', '.')
}
