import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from '../../cli/command'
import type { Io } from '../../cli/io'
import { runCli } from '../../cli/run'
import type { World } from '../../cli/shell'
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

/** Where commands run unless told: examples write files such as `new.key`. */
const folder = mkdtempSync(join(tmpdir(), 'svc-cli-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** Runs one command line against a world and returns its output and exit code. */
export async function cli(line: readonly string[], options: CliOptions = {}) {
  const { io = fakeIo(), env = {}, cwd = folder, open, clock = fakeClock() } = options
  const { signal = new AbortController().signal } = options
  const exitCode = await runCli(line, {
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
