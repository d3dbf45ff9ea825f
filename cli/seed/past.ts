import type { Target } from '../../src/app/client'
import type { Config } from '../../src/app/config'
import { systemClock } from '../../src/kernel/clock'
import { createLog } from '../../src/kernel/log'
import { callerWith } from './call'
import { promptOf } from './prompts'

const DAY_MS = 86_400_000
const DAYS = 30
/** Calls that share their commits, which take most of the time. */
const AT_ONCE = 6

/**
 * A month of use before today, for a database that nobody has written to: the app runs in this command by a clock that
 * is behind, so each row is what such a request leaves. The record stays in the order of its times.
 * @returns how many calls there were
 */
export async function seedPast(
  config: Config,
  { max, signal, key }: { max: number; signal: AbortSignal; key(app: PastApp): Promise<string> },
): Promise<number> {
  const { openApp } = await import('../../src/app/open')
  let behindMs = DAYS * DAY_MS
  const clock = { ...systemClock, now: () => Date.now() - behindMs }
  const log = createLog({ level: 'warn', pretty: true, write: (line) => void process.stderr.write(line) })
  const app = await openApp({ config, clock, log, serving: false })
  try {
    const call = callerWith({ kind: 'app', handle: app.api.handle }, await key(app), signal)
    let count = 0
    for (let day = DAYS; day > 0 && !signal.aborted; day--) {
      // How a day of the past is drawn: a week has its shape, and each day a little more than the one before.
      const today = Math.max(
        1,
        Math.round(max * ([0.4, 0.9, 1, 0.95, 0.9, 0.8, 0.3][day % 7]! * (0.5 + (0.5 * (DAYS - day)) / DAYS))),
      )
      for (let n = 0; n < today; n += AT_ONCE) {
        behindMs = day * DAY_MS - Math.floor((n * DAY_MS) / (today * 3))
        const some = Array.from({ length: Math.min(AT_ONCE, today - n) }, () => promptOf(count++))
        await Promise.all(some.map((prompt) => call('POST', 'completions', prompt)))
      }
    }
    return count
  } finally {
    await app.close()
  }
}

export type PastApp = { ops: { handle: Extract<Target, { kind: 'app' }>['handle'] } }
