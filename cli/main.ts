#!/usr/bin/env bun
import { systemClock } from '../src/kernel/clock'
import { EXIT } from './exit'
import { realIo } from './io'
import { runCli } from './run'

const interrupted = new AbortController()
let signals = 0
for (const [signal, code] of [
  ['SIGINT', EXIT.interrupted],
  ['SIGTERM', EXIT.terminated],
] as const) {
  process.on(signal, () => {
    interrupted.abort()
    process.exitCode = code
    // The first asks a command to finish what it holds; the second does not wait for it.
    signals += 1
    if (signals > 1) process.exit(code)
  })
}

const code = await runCli(process.argv.slice(2), {
  io: realIo,
  env: process.env,
  cwd: process.cwd(),
  clock: systemClock,
  signal: interrupted.signal,
  open: async (shell, command) => (await import('./open')).openConnection(shell, command),
})
process.exit(interrupted.signal.aborted ? (process.exitCode ?? EXIT.interrupted) : code)
