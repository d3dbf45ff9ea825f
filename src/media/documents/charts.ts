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

/** Colours that people with colour blindness can tell apart. */
export const PALETTE = ['#2b6cb0', '#dd7b2f', '#2f9e7f', '#b83e63', '#7961b5', '#b3922e', '#56a3cf', '#76787d'] as const

export const colourOf = (index: number): string => PALETTE[index % PALETTE.length]!

/** An axis with round steps that covers all values and zero. */
export type Scale = { from: number; to: number; ticks: readonly number[] }

const WANTED_TICKS = 5
const ROUND = [1, 2, 2.5, 5, 10]

export function scaleOf(chart: Chart): Scale {
  const values = chart.series.flatMap(({ values }) => values.filter((value) => value !== null))
  const low = Math.min(0, ...values)
  const high = Math.max(0, ...values)
  const range = high - low || 1
  const rough = range / WANTED_TICKS
  const magnitude = 10 ** Math.floor(Math.log10(rough))
  const step = ROUND.map((times) => times * magnitude).find((one) => one >= rough * 0.999) ?? magnitude * 10
  const first = Math.floor(low / step + 1e-9)
  const last = Math.max(first + 1, Math.ceil(high / step - 1e-9))
  // Removes rounding errors of binary fractions.
  const ticks = Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)))
  return { from: ticks[0]!, to: ticks.at(-1)!, ticks }
}

const FORMAT = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 })

/** A value formatted for its bar or axis. */
export function labelOf(value: number, unit: string): string {
  const isLarge = Math.abs(value) >= 100_000
  return `${(isLarge ? COMPACT : FORMAT).format(value)}${unit}`
}

export const sumOf = (values: readonly (number | null)[]): number =>
  values.reduce<number>((sum, value) => sum + Math.max(0, value ?? 0), 0)

/** Bars and areas start at zero, so that no difference looks larger than it is. */
export const startsAtZero = ({ kind, series }: Chart): boolean =>
  kind !== 'line' && series.every(({ values }) => values.every((value) => value === null || value >= 0))
