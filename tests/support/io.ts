import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from '../../cli/command'
import { runCli } from '../../cli/run'
import type { Io, World } from '../../cli/shell'
import { fakeClock } from './clock'

export type Terminal = Io & { stdout(): string; stderr(): string }

/** A terminal that records its output; with `width` stdout is a TTY of that many columns. */
export function fakeIo({ width = null, stdin = '' }: { width?: number | null; stdin?: string } = {}): Terminal {
  let [out, err] = ['', '']
  return {
    out: (line) => {
      out += `${line}\n`
    },
    raw: (text) => {
      out += text
    },
    err: (line) => {
      err += `${line}\n`
    },
    outIsTty: width !== null,
    errIsTty: width !== null,
    width,
    async *lines() {
      yield* stdin.split('\n').filter(Boolean)
    },
    inIsTty: false,
    readStdin: async () => stdin,
    stdout: () => out,
    stderr: () => err,
  }
}

export type CliOptions = {
  io?: Terminal
  env?: Record<string, string>
  cwd?: string
  open?: World['open']
  /** Ctrl-C. */
  signal?: AbortSignal
  clock?: World['clock']
}

/** A command line: its words, or a text of words with blanks between them. */
export type Line = string | readonly string[]

export const wordsIn = (line: Line): readonly string[] => (typeof line === 'string' ? line.split(' ') : line)

/**
 * Runs one command line against a world and returns its output and exit code. Without `cwd` it runs in a folder that is
 * removed again: examples write files such as `new.key`.
 */
export async function cli(line: Line, options: CliOptions = {}) {
  if (options.cwd !== undefined) return inFolder(line, { ...options, cwd: options.cwd })
  const cwd = mkdtempSync(join(tmpdir(), 'svc-cli-'))
  try {
    return await inFolder(line, { ...options, cwd })
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

async function inFolder(line: Line, options: CliOptions & { cwd: string }) {
  const { io = fakeIo(), env = {}, cwd, open, clock = fakeClock() } = options
  const { signal = new AbortController().signal } = options
  const exitCode = await runCli(wordsIn(line), {
    io,
    env,
    cwd,
    clock,
    signal,
    takeSignals: () => new AbortController().signal,
    open:
      open ?? (async (_shell, command: Command) => Promise.reject(new Error(`${command.path} opened a connection`))),
  })
  return { exitCode, stdout: io.stdout(), stderr: io.stderr() }
}
