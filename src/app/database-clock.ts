import { FAR_OFF_MS, OFF_MS } from '../cluster'
import { type Clock, correctedClock, systemClock } from '../kernel/clock'
import type { Log } from '../kernel/log'

/** Answers differ by less: a clock that jumped back and forth with each would be worse than one a little off. */
const SLACK_MS = 100

/**
 * The clock of the database, as far as it is known. Nodes share leases, due times and expiries, so all of them go by it.
 * `onClock` is told how far the clock of this machine is ahead of it, and says so in the log where that is far.
 */
export function databaseClock(log: Log): { clock: Clock; onClock(aheadMs: number): void } {
  const clock = correctedClock(systemClock)
  let corrected = 0
  let text = ''
  return {
    clock,
    onClock(aheadMs) {
      if (Math.abs(aheadMs - corrected) > SLACK_MS) {
        corrected = aheadMs
        clock.correct(-aheadMs)
      }
      const off = Math.abs(aheadMs)
      const state = off > FAR_OFF_MS ? 'takes no work' : off > OFF_MS ? 'uses the clock of the database' : ''
      if (state === text) return
      text = state
      const fact = { clock_ahead_ms: aheadMs }
      if (state)
        log.warn(
          fact,
          `the clock of this machine differs from that of the database: this process ${state}. Synchronize the clock`,
        )
      else log.info(fact, 'the clock of this machine is correct again')
    },
  }
}
