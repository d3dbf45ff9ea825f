import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** Where a command prints: data to stdout, messages to stderr (dx 2.4). The CLI prints through nothing else. */
export type Io = {
  /** One line of data. */
  out(line: string): void
  /** Data exactly as given, for streams. */
  raw(text: string): void
  /** One message line. */
  err(line: string): void
  readonly outIsTty: boolean
  readonly errIsTty: boolean
  /** Columns of the terminal; null when stdout is not one. */
  readonly width: number | null
  /** Lines of stdin as they are typed or come in. */
  lines(): AsyncIterable<string>
  readonly inIsTty: boolean
  /** All of stdin, for `-f -` and secrets in a pipe. */
  readStdin(): Promise<string>
}

export const realIo: Io = {
  out: (line) => emit(1, `${line}\n`),
  raw: (text) => emit(1, text),
  err: (line) => emit(2, `${line}\n`),
  outIsTty: process.stdout.isTTY === true,
  errIsTty: process.stderr.isTTY === true,
  width: process.stdout.isTTY ? (process.stdout.columns ?? 80) : null,
  lines: () => createInterface({ input: process.stdin, terminal: false }),
  inIsTty: process.stdin.isTTY === true,
  readStdin: () => Bun.stdin.text(),
}

/** The reader of the pipe has gone (`| head`). There is no one to print to, and that is not an error. */
export class ReaderGone extends Error {
  override name = 'ReaderGone'
}

/** Synchronous, so that no output is lost when the process exits right afterwards. */
function emit(descriptor: 1 | 2, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(descriptor, bytes, at)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EPIPE') throw new ReaderGone()
      if (code !== 'EAGAIN') throw error
      Bun.sleepSync(2)
    }
  }
}
