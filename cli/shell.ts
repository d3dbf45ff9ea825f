import { closeSync, openSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Clock } from '../src/kernel/clock'
import { clean } from '../src/kernel/text'
import type { Command } from './command'
import { CommandFailed, EXIT, usageFailure } from './failure'
import { type Environment, type Globals, mayAsk, printStyleOf, usesColor } from './globals'
import { type Paint, paintFor, toAscii } from './output/paint'
import { createPrinter, type Printer } from './output/print'
import type { Connection } from './transport'

/** Where a command prints: data to stdout, messages to stderr (docs/operating.md 2.4). The CLI uses nothing else. */
export type Io = {
  /** One line of data. */
  out(line: string): void
  /** Data exactly as given, for streams. */
  raw(text: string): void
  /** One message line. */
  err(line: string): void
  readonly outIsTty: boolean
  readonly errIsTty: boolean
  /** Columns of the terminal. Null when stdout is not a terminal. */
  readonly width: number | null
  /** Lines of stdin as they arrive. */
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

/** The reader of the pipe has closed it (`| head`). This is not an error. */
export class ReaderGone extends Error {
  override name = 'ReaderGone'
}

/** The child process that asks. It prints the question on the terminal it reads from. */
const ASKER = 'printf %s "$1" >&0; exec head -n 1'

/** Everything a command may use. */
export type Shell = {
  io: Io
  print: Printer
  paint: Paint
  prompt: ReturnType<typeof createPrompt>
  globals: Globals
  env: Environment
  cwd: string
  clock: Clock
  commands: readonly Command[]
  /** Aborts on Ctrl-C. */
  signal: AbortSignal
  /**
   * From now on the command itself ends the process when `signal` aborts, even if it already has. A second Ctrl-C
   * aborts the returned signal.
   */
  takeSignals(): AbortSignal
  /** Opens the connection on first use. Later calls return the same one. */
  connect(): Promise<Connection>
  /** Closes the connection if one was opened. */
  disconnect(): Promise<void>
  /** Prints a message for people, on stderr and without colour. Silent with `--quiet`. */
  note(line: string): void
  /** Returns true with `--dry-run`, and then prints `sentence`, which describes the planned change. */
  planned(sentence: string): boolean
  /** Asks before a moderately dangerous change. @throws CommandFailed when the answer is no. */
  confirm(question: string): void
  /** Asks for the name of the object to delete. @throws CommandFailed for another name. */
  confirmName(question: string, name: string): void
  /** The exit code if nothing fails. */
  exitCode: number
}

/** What the process provides to the CLI. Tests pass their own. */
export type World = {
  io: Io
  env: Environment
  cwd: string
  clock: Clock
  signal: AbortSignal
  /** The file with all commands without their code, if they come from a bundle. */
  outlines?: string | null
  takeSignals(): AbortSignal
  /** Opens a connection. `command` tells whether it works without a running server. */
  open(shell: Shell, command: Command): Promise<Connection>
}

/** Creates the shell of a command. */
export function createShell(world: World, globals: Globals, command: Command, commands: readonly Command[]): Shell {
  const style = printStyleOf(globals, world.io, world.clock.now())
  const { out, err } = world.io
  const ascii = { out: (line: string) => out(toAscii(line)), err: (line: string) => err(toAscii(line)) }
  const io = globals.ascii ? { ...world.io, ...ascii } : world.io
  let connection: Promise<Connection> | null = null
  let hasStopped = false
  const shell: Shell = {
    io,
    globals,
    commands,
    env: world.env,
    cwd: world.cwd,
    clock: world.clock,
    signal: world.signal,
    takeSignals: world.takeSignals,
    exitCode: EXIT.done,
    print: createPrinter(io, {
      ...style,
      get now() {
        return world.clock.now()
      },
    }),
    paint: paintFor(usesColor(globals, io.outIsTty, world.env)),
    prompt: createPrompt(globals, mayAsk(globals, io, world.env)),
    connect: () => {
      connection ??= world.open(shell, command)
      return connection
    },
    disconnect: async () => {
      await (await connection?.catch(() => null))?.close()
    },
    note: (line) => {
      if (globals.quiet) return
      // The terminal has printed ^C on this line.
      const isAfterStop = !hasStopped && world.signal.aborted && io.errIsTty
      hasStopped ||= isAfterStop
      io.err(`${isAfterStop ? '\n' : ''}${clean(line)}`)
    },
    planned: (sentence) => {
      if (!globals.dryRun) return false
      io.err(clean(`would ${sentence}; nothing was changed`))
      if (globals.exitCode) shell.exitCode = EXIT.wouldChange
      return true
    },
    confirm: (question) => goOnIf(shell.prompt.confirm(question)),
    confirmName: (question, name) => goOnIf(shell.prompt.confirmName(question, name)),
  }
  return shell
}

function goOnIf(isConfirmed: boolean): void {
  if (isConfirmed) return
  throw new CommandFailed({ exitCode: EXIT.failed, code: 'not_confirmed', message: 'Nothing was changed.' })
}

/** Asks questions on the terminal device, so that stdin and stdout stay free for data (docs/operating.md 2.6). */
function createPrompt({ yes = false, confirm: named }: Globals, mayAsk: boolean) {
  /** Asks for one line. @throws CommandFailed 2 when nobody can be asked, 130 for Ctrl-C */
  const ask = (question: string, instead: string, hides = false): string => {
    const tty = mayAsk ? openTerminal() : null
    if (tty === null) throw usageFailure('This command asks a question, but there is no terminal to ask on.', instead)
    try {
      // A child reads the answer, because our own blocked read would delay Ctrl-C until Enter. It runs before the
      // question appears, and Ctrl-C ends it at once.
      const child = { stdin: tty, stdout: 'pipe', stderr: 'ignore' } as const
      if (hides) Bun.spawnSync(['stty', '-echo'], child)
      const { stdout, signalCode } = Bun.spawnSync(['sh', '-c', ASKER, 'sh', question], child)
      if (!signalCode) return stdout.toString().trim()
      writeSync(tty, '\n')
      const message = 'Interrupted. Nothing was changed.'
      throw new CommandFailed({ exitCode: EXIT.interrupted, code: 'interrupted', message })
    } finally {
      if (hides) {
        Bun.spawnSync(['stty', 'echo'], { stdin: tty })
        writeSync(tty, '\n')
      }
      closeSync(tty)
    }
  }
  return {
    /** Returns true for a yes. */
    confirm: (question: string) => yes || /^y(es)?$/i.test(ask(`${clean(question)} [y/N] `, 'add --yes')),
    /** Returns true when the user typed the name, or gave it as `--confirm`. `--yes` is not enough. */
    confirmName(question: string, name: string) {
      if (named !== undefined) return named === name
      return ask(`${clean(question)}\nType ${clean(name)} to continue: `, `add --confirm ${clean(name)}`) === name
    },
    line: (label: string, instead: string) => ask(`${clean(label)}: `, instead),
    /** Reads a line without echo. */
    secret: (label: string, instead: string) => ask(`${clean(label)} (hidden): `, instead, true),
  }
}

/** Null if the process has no terminal, for example under cron. */
function openTerminal(): number | null {
  try {
    return openSync('/dev/tty', 'r+')
  } catch {
    return null
  }
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

/**
 * For commands marked R. The reason is recorded with the change (docs/operating.md 2.3), so a dry run needs none.
 * @throws CommandFailed 2
 */
export function requireReason({ globals }: Shell, command: string): string {
  const { reason = '', dryRun } = globals
  if (reason.trim() || dryRun) return reason
  throw usageFailure(`${command} is recorded and needs a reason.`, 'add --reason "…"')
}
