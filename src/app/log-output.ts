import { createLog, type Log } from '../kernel/log'
import type { Config } from './config'

let isWatched = false

/**
 * Standard output for a log. A line that it refuses, as on a full disk, is dropped: the server goes on without it. Once
 * lines are taken again `onTaken` is told how many were lost.
 */
function createOutput(onTaken: (lost: number) => void): (line: string) => void {
  let lost = 0
  // Without a listener each refusal is an uncaught error, which is logged, which is refused.
  if (!isWatched) for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  isWatched = true
  return (line) => {
    process.stdout.write(line, (error) => {
      if (error) lost += 1
      if (error || lost === 0) return
      const count = lost
      lost = 0
      onTaken(count)
    })
  }
}

/** The log of a server, on standard output: lines for people on a terminal, else for programs, as the settings say. */
export function defaultLog({ logFormat, logLevel }: Config): Log {
  const pretty = logFormat === 'auto' ? process.stdout.isTTY === true : logFormat === 'pretty'
  const write = createOutput((lost) => log.warn({ lost }, 'log lines were lost'))
  const log = createLog({ level: logLevel, pretty, write })
  return log
}
