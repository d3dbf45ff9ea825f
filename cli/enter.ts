import { dirname, join } from 'node:path'
import { OUTLINES } from '../src/app/bundle'
import { systemClock } from '../src/kernel/clock'
import { EXIT } from './exit'
import { realIo } from './io'
import { runCli } from './run'

const FAREWELL_MS = 100

/**
 * The process of `svc-admin`: signals, one command line, the exit code. `bundle` is the file that this was loaded from,
 * if it is a bundle. @public The bundle is entered here.
 */
export async function enter(argv: readonly string[], bundle: string | null): Promise<void> {
  const interrupted = new AbortController()
  let serving = false
  for (const [signal, code] of [
    ['SIGINT', EXIT.interrupted],
    ['SIGTERM', EXIT.terminated],
  ] as const) {
    process.on(signal, () => {
      if (serving) return
      // A short delay lets listeners print a last line; nothing else is waited for.
      interrupted.abort()
      setTimeout(() => process.exit(code), FAREWELL_MS)
    })
  }

  const code = await runCli(argv, {
    io: realIo,
    env: process.env,
    cwd: process.cwd(),
    clock: systemClock,
    signal: interrupted.signal,
    outlines: bundle && join(dirname(bundle), OUTLINES),
    takeSignals: () => {
      serving = true
    },
    open: async (shell, command) => (await import('./open')).openConnection(shell, command),
  })
  if (!interrupted.signal.aborted) process.exit(code)
}
