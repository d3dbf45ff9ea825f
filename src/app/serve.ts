import { ConfigError } from '../kernel/config'
import { errorFields } from '../kernel/log'
import { banner } from './banner'
import { type ConfigOverrides, loadConfig } from './config'
import type { OpenOptions } from './open'
import { type RunningApp, start } from './start'

/** Ends the process even when stopping fails: otherwise it would keep the lock and the next server could not start. */
const failed =
  ({ app }: RunningApp) =>
  (error: unknown) => {
    app.log.error(errorFields(error), 'the stop failed; what was in flight is settled at the next start')
    process.exit(1)
  }

const WIDTH = 80
/** Longest wait for what the upstreams say, for the text at start alone: the server serves meanwhile. */
const ASKING_MS = 1_000

/**
 * Serves until SIGTERM or SIGINT, then stops gracefully. Configuration problems are printed together, with exit 1.
 * @public The bundle is entered here, by its path.
 */
export async function serve(
  overrides: ConfigOverrides = {},
  more: Pick<OpenOptions, 'newSecrets'> = {},
): Promise<void> {
  const startedAt = performance.now()
  try {
    const running = await start({ config: loadConfig(overrides), ...more })
    // Installed before the banner is printed: a process that reads the banner may send a signal at once.
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => void running.stop().then(() => process.exit(0), failed(running)))
    }
    // A reader of JSON lines gets nothing else on stdout.
    const out = running.app.config.logFormat === 'json' ? process.stderr : process.stdout
    const startedMs = performance.now() - startedAt
    const upstreams = await running.app.container.engines.askUpstreams(ASKING_MS)
    out.write(banner(running, { isTty: out.isTTY === true, columns: out.columns ?? WIDTH, startedMs, upstreams }))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.problems.map((problem) => `error: ${problem}`).join('\n')}\n`)
    process.exit(1)
  }
}
