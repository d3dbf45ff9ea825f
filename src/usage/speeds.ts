import { startOf } from './buckets'
import { cellOf } from './latency'
import type { SpeedRow, UsageRow } from './table'

/** The fields of a record that benchmarks use. */
export type Timed = Pick<
  UsageRow,
  'owner' | 'at' | 'mode' | 'resolved_mode' | 'ttft_ms' | 'classified_us' | 'fallback_used'
>

/** What records add to the row of one hour or day and mode; the lists hold one histogram cell per call. */
export type Speed = Omit<SpeedRow, 'ttft' | 'classified'> & { ttft: number[]; classified: number[] }

/** The name calls without a mode are listed under. */
const NO_MODE = 'none'

export const modeOf = ({ mode, resolved_mode }: Pick<UsageRow, 'mode' | 'resolved_mode'>): string =>
  resolved_mode || mode || NO_MODE

/** Sums records by owner, hour and day, and mode. Most calls have nothing for benchmarks and make no row. */
export function speedsOf(records: readonly Timed[]): Speed[] {
  const speeds = new Map<string, Speed>()
  for (const record of records) {
    if (record.ttft_ms === null && record.classified_us === null && !record.fallback_used) continue
    for (const grain of ['day', 'hour'] as const) {
      const [owner, at, mode] = [record.owner, startOf(grain, record.at), modeOf(record)]
      const name = [owner, grain, at, mode].join('\n')
      const speed = speeds.get(name) ?? { owner, grain, at, mode, ttft: [], classified: [], failovers: 0 }
      speeds.set(name, speed)
      if (record.ttft_ms !== null) speed.ttft.push(cellOf(record.ttft_ms))
      if (record.classified_us !== null) speed.classified.push(cellOf(record.classified_us))
      if (record.fallback_used) speed.failovers += 1
    }
  }
  return [...speeds.values()]
}
