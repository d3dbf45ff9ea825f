import { dirname, join } from 'node:path'
import { OUTLINES } from '../src/app/bundle'
import { systemClock } from '../src/kernel/clock'
import { type Signal, untilSignal } from '../src/kernel/signals'
import { EXIT } from './failure'
import { runCli } from './run'
import { realIo } from './shell'

const FAREWELL_MS = 100
const CODES: Readonly<Record<Signal, number>> = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated }

/**
 * The process of `svc-admin`: signals, one command line, the exit code. `bundle` is the file that this was loaded from,
 * if it is a bundle. @public The bundle is entered here.
 */
export async function enter(argv: readonly string[], bundle: string | null): Promise<void> {
  let serving = false
  let farewell: ReturnType<typeof setTimeout> | undefined
  const { stop: interrupted, hurry } = untilSignal((signal) => {
    // A short delay lets listeners print a last line. The process waits for nothing else.
    if (!serving) farewell = setTimeout(() => process.exit(CODES[signal]), FAREWELL_MS)
  })

  const code = await runCli(argv, {
    io: realIo,
    env: process.env,
    cwd: process.cwd(),
    clock: systemClock,
    signal: interrupted,
    outlines: bundle && join(dirname(bundle), OUTLINES),
    takeSignals: () => {
      serving = true
      clearTimeout(farewell)
      return hurry
    },
    open: async (shell, command) => (await import('./open')).openConnection(shell, command),
  })
  if (serving || !interrupted.aborted) process.exit(code)
}
