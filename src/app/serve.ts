import { ConfigError } from '../kernel/config'
import { banner } from './banner'
import { type ConfigOverrides, loadConfig } from './config'
import { start } from './start'

/** Serves until a signal says stop, then leaves in good order. Start-up problems are told all at once, exit 1. */
export async function serve(overrides: ConfigOverrides = {}): Promise<void> {
  const startedAt = performance.now()
  try {
    const running = await start({ config: loadConfig(overrides) })
    const isTty = process.stdout.isTTY === true
    process.stdout.write(banner(running, { isTty, startedMs: performance.now() - startedAt }))
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => void running.stop().then(() => process.exit(0)))
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.problems.map((problem) => `error: ${problem}`).join('\n')}\n`)
    process.exit(1)
  }
}
