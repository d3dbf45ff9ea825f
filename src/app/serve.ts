import { ConfigError } from '../kernel/config'
import { errorFields } from '../kernel/log'
import type { Signals } from '../kernel/signals'
import { banner } from './banner'
import { type ConfigOverrides, loadConfig } from './config'
import type { OpenOptions } from './open'
import { firstLink } from './seed'
import { type RunningApp, start } from './start'
import { unknownVariables } from './variables'

/** Where people read; a reader of JSON lines gets nothing else on stdout. */
const outOf = ({ app }: RunningApp) => (app.config.logFormat === 'json' ? process.stderr : process.stdout)

/** Ends the process even when stopping fails: otherwise it would keep the lock and the next server could not start. */
const end = (running: RunningApp, hurry: AbortSignal): Promise<never> => {
  const giveUp = () => setTimeout(() => process.exit(1), HURRIED_MS)
  if (hurry.aborted) giveUp()
  else hurry.addEventListener('abort', giveUp, { once: true })
  return running.stop(hurry).then(
    () => {
      outOf(running).write('Stopped.\n')
      process.exit(0)
    },
    (error: unknown) => {
      running.app.log.error(errorFields(error), 'the shutdown failed; unfinished work is settled at the next start')
      process.exit(1)
    },
  )
}

const WIDTH = 80
/** Longest wait for what the upstreams say, for the text at start alone: the server serves meanwhile. */
const REQUESTING_MS = 1_000
/** Longest wait for the end of a start that is to be stopped, as when its database answers nothing. */
const STARTING_MS = 25_000
/** Longest time from a second signal to the end. */
const HURRIED_MS = 5_000

/**
 * Serves until `stop` aborts, then stops gracefully, with exit 0; `hurry` cuts that short. A start under way is finished
 * first, so that nothing is left half made; one that takes longer than a stop may is given up. Configuration problems are
 * printed together, exit 1.
 * @public The bundle is entered here, by its path.
 */
export async function serve(
  overrides: ConfigOverrides,
  { stop, hurry, ...more }: Pick<OpenOptions, 'newSecrets'> & Signals,
): Promise<void> {
  const startedAt = performance.now()
  if (stop.aborted) process.exit(0)
  const giveUp = () => setTimeout(() => process.exit(1), STARTING_MS)
  stop.addEventListener('abort', giveUp, { once: true })
  try {
    const running = await start({ config: loadConfig(overrides), ...more })
    stop.removeEventListener('abort', giveUp)
    if (stop.aborted) return await end(running, hurry)
    // Heard before the banner is printed: a process that reads the banner may send a signal at once.
    stop.addEventListener('abort', () => void end(running, hurry), { once: true })
    const out = outOf(running)
    const startedMs = performance.now() - startedAt
    const upstreams = await running.app.container.engines.askUpstreams(REQUESTING_MS)
    const isTty = out.isTTY === true
    const link = isTty && running.seed ? await firstLink(running.app.container) : null
    out.write(
      banner(running, {
        isTty,
        columns: out.columns ?? WIDTH,
        startedMs,
        upstreams,
        link,
        unknown: unknownVariables(),
      }),
    )
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.problems.map((problem) => `error: ${problem}`).join('\n')}\n`)
    process.exit(1)
  }
}
