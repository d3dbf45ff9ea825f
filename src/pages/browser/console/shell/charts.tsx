import { lazy } from 'react'
import type { UsageSeries } from '../../../../usage/schema'
import { part } from './api'
import { boot } from './boot'

/** The chart component of `ui`, loaded on first use. */
export const Chart = lazy(() => part(() => import('../ui/chart')).then(({ Chart }) => ({ default: Chart })))

type SplitProps = {
  title: string
  of: UsageSeries
  figure: 'cost_cents' | 'requests'
  spell(value: number): string
  onRange(from: string, to: string): void
}

/** Usage over time, with the contribution of each series. */
export function SplitChart({ title, of: { buckets, series, other }, figure, spell, onRange }: SplitProps) {
  const lines = [...series, ...(other ? [other] : [])]
  const shown = lines.map(({ key, label, ...figures }) => ({ key, label, values: figures[figure] }))
  return (
    <Chart title={title} times={buckets} spell={spell} stacked series={shown} zone={boot.timezone} onRange={onRange} />
  )
}
