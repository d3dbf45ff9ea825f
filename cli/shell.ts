import type { Clock } from '../src/kernel/clock'
import { clean } from '../src/kernel/text'
import type { Command } from './command'
import type { Connection } from './connection'
import { EXIT } from './exit'
import { CommandFailed } from './failure'
import { type Environment, type Globals, mayAsk, printStyleOf, usesColor } from './globals'
import type { Io } from './io'
import { type Paint, paintFor, toAscii } from './output/paint'
import { createPrinter, type Printer } from './output/print'
import type { Query } from './output/query'
import { createPrompt, type Prompt } from './prompt'

/** Everything a command may use. */
export type Shell = {
  io: Io
  print: Printer
  paint: Paint
  prompt: Prompt
  globals: Globals
  env: Environment
  cwd: string
  clock: Clock
  commands: readonly Command[]
  /** Aborts on Ctrl-C. */
  signal: AbortSignal
  /** From now on the command itself ends the process when `signal` aborts, also when it has. A second Ctrl-C aborts what it returns. */
  takeSignals(): AbortSignal
  /** Opens the connection on first use; later calls return the same one. */
  connect(): Promise<Connection>
  /** Closes the connection if one was opened. */
  disconnect(): Promise<void>
  /** A message for people, on stderr and without colour; silent with `--quiet`. */
  note(line: string): void
  /** True with `--dry-run`; then prints `sentence`, which says what would have happened. */
  planned(sentence: string): boolean
  /** Asks before a moderately dangerous change. @throws CommandFailed when the answer is no. */
  confirm(question: string): void
  /** Asks for the name of what will be deleted. @throws CommandFailed for another name. */
  confirmName(question: string, name: string): void
  /** The exit code when nothing fails. */
  exitCode: number
}

/** What the process gives the CLI; tests pass their own. */
export type World = {
  io: Io
  env: Environment
  cwd: string
  clock: Clock
  signal: AbortSignal
  /** The file of all commands without their code, if they come from a bundle. */
  outlines?: string | null
  takeSignals(): AbortSignal
  /** Opens a connection; `command` says whether it works without a running server. */
  open(shell: Shell, command: Command): Promise<Connection>
}

/** `query` is what `--query` makes of an answer. */
export function createShell(
  world: World,
  globals: Globals,
  command: Command,
  commands: readonly Command[],
  query: Query | null = null,
): Shell {
  const style = printStyleOf(globals, world.io, world.clock.now())
  const io = globals.ascii ? asciiIo(world.io) : world.io
  let connection: Promise<Connection> | null = null
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
      query,
      get now() {
        return world.clock.now()
      },
    }),
    paint: paintFor(usesColor(globals, io.outIsTty, world.env)),
    prompt: createPrompt({
      yes: globals.yes === true,
      named: globals.confirm,
      mayAsk: mayAsk(globals, io, world.env),
    }),
    connect: () => {
      connection ??= world.open(shell, command)
      return connection
    },
    disconnect: async () => {
      const opened = await connection?.catch(() => null)
      await opened?.close()
    },
    note: (line) => {
      if (!globals.quiet) io.err(clean(line))
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

const asciiIo = (io: Io): Io => ({ ...io, out: (line) => io.out(toAscii(line)), err: (line) => io.err(toAscii(line)) })
