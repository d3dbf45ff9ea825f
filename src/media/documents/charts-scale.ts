import type { Chart } from './blocks-model'

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
