import { type ComponentProps, lazy, Suspense } from 'react'
import type { UsageSeries } from '../../../../usage/schema'
import { OTHER, sum } from '../ui/format'
import { Loading } from '../ui/states'
import { part } from './api'
import { boot } from './boot'

const Loaded = lazy(() => part(() => import('../ui/chart')).then(({ Chart }) => ({ default: Chart })))

/** The chart component of `ui`, loaded on first use, in the owner's time zone. */
export const Chart = (props: Omit<ComponentProps<typeof Loaded>, 'zone'>) => (
  <Suspense fallback={<Loading rows={3} />}>
    <Loaded {...props} zone={boot.timezone} />
  </Suspense>
)

type SplitProps = {
  title: string
  of: UsageSeries
  figure: 'cost_cents' | 'requests'
  spell(value: number): string
  onRange(from: string, to: string): void
}

/** The other series are one, because more than six lines cannot be told apart. */
const NAMED = 5

/** Usage over time, with the contribution of each series. */
export function SplitChart({ title, of: { buckets, series, other }, figure, spell, onRange }: SplitProps) {
  const named = series.slice(0, NAMED).map(({ key, label, ...figures }) => ({ key, label, values: figures[figure] }))
  const rest = [...series.slice(NAMED), ...(other ? [other] : [])].map((it) => it[figure])
  const values = buckets.map((_, n) => (rest.every((one) => one[n] === null) ? null : sum(rest.map((one) => one[n]!))))
  const shown = rest.length > 0 ? [...named, { key: OTHER, label: 'Other', values }] : named
  return <Chart {...{ title, spell, onRange }} times={buckets} stacked series={shown} />
}
