import { AppError } from '../src/kernel/errors'
import { clean, commandsAsTyped, wrap } from '../src/kernel/text'
import type { Command } from './command'
import { withProfile } from './commands/profiles'
import { CheckFailed, CommandFailed, EXIT, usageFailure } from './failure'
import { formatOf, type Globals, usesColor } from './globals'
import { helpFor } from './help'
import { safeJson } from './output/json'
import { type Paint, paintFor } from './output/paint'
import { FORMATS, type Format, isStructured } from './output/print'
import { parse } from './parse'
import { type Input, plainWords, withoutAliases } from './program'
import { commandsUnder, outlinedCommands } from './registry'
import { createShell, type Io, ReaderGone, type Shell, type World } from './shell'

const WATCH_PAUSE_MS = 2_000

/** Runs one command line and returns its exit code. All failures of the CLI are printed here. */
export async function runCli(argv: readonly string[], given: World): Promise<number> {
  const typed = (text: string) => commandsAsTyped(text, given.env)
  const world = { ...given, io: { ...given.io, err: (line: string) => given.io.err(typed(line)) } }
  // From the scripts of `completion`. Everything after `--` is a command line up to the cursor.
  if (argv[0] === '__complete') {
    const { complete } = await import('./commands/completion')
    await complete(argv.slice(argv[1] === '--' ? 2 : 1), await outlinedCommands(world.outlines), world)
    return EXIT.done
  }
  // Guesses the wanted error format from a command line that could not be parsed.
  const json =
    argv.includes('--json') || argv.some((word, at) => word === 'json' && /^(-o|--output)$/.test(argv[at - 1] ?? ''))
  let globals = { ...(json ? { json } : {}), ...(argv.includes('--debug') ? { debug: true } : {}) } as Globals
  let lists: string | undefined
  try {
    const { input, commands } = await read(argv, world)
    if (input.type === 'run') {
      globals = input.globals
      // The list command of the same noun. An error message suggests it after a 404.
      const list = `${input.command.path.split(' ')[0]} list`
      lists = input.command.path !== list && commands.some((one) => one.path === list) ? `svc-admin ${list}` : undefined
    }
    return await execute(input, commands, world)
  } catch (error) {
    if (error instanceof CheckFailed) return error.exitCode
    if (error instanceof ReaderGone) return EXIT.done
    const failure = error instanceof CommandFailed ? error : fromOutside(error)
    if (failure.exitCode === EXIT.missing) failure.fix ??= lists
    failure.message = typed(failure.message)
    reportFailure(world.io, failure, formatOf(globals), paintFor(usesColor(globals, world.io.errIsTty, world.env)))
    if (globals.debug && !(error instanceof CommandFailed)) world.io.err(String((error as Error).stack))
    return failure.exitCode
  }
}

/** Words that concern all commands. */
const ABOUT_ALL = ['-h', '--help', 'help', 'cheat', 'commands']

/** Parses a command line with the commands of its first word. Help, or an unknown word, needs all commands. */
async function read(argv: readonly string[], { env, outlines }: World) {
  const plain = withoutAliases(argv)
  const first = argv.includes('--version') ? 'version' : (plain[plainWords(plain)[0]!] ?? '')
  const few = ABOUT_ALL.some((word) => argv.includes(word)) ? null : await commandsUnder(first)
  if (few) {
    const input = parse(argv, few, env)
    // The help of a noun names commands of other nouns.
    if (input.type !== 'help') return { input, commands: few }
  }
  const commands = await outlinedCommands(outlines)
  const input = parse(argv, commands, env)
  // Only its code can parse the arguments or flags of a command.
  if (input.type === 'help' || !Object.keys({ ...input.command.args, ...input.command.flags }).length)
    return { input, commands }
  const loaded = (await commandsUnder(input.command.path.split(' ')[0]!))!
  return { input: parse(argv, loaded, env), commands }
}

async function execute(line: Input, commands: readonly Command[], world: World): Promise<number> {
  if (line.type === 'help') {
    world.io.out(commandsAsTyped(helpFor(line.about, commands), world.env))
    return EXIT.done
  }
  const { command, input, globals } = line
  if (globals.fields?.join() === '?') {
    for (const { field } of command.columns ?? []) world.io.out(field)
    return EXIT.done
  }
  const { path, formats = [] } = command
  if (!([...FORMATS, ...formats] as Format[]).includes(formatOf(globals)))
    throw usageFailure(
      `${path} does not print ${formatOf(globals)}. Use ${FORMATS.join(', ')}.`,
      'svc-admin doctor does',
    )
  const shell = createShell(world, withProfile(globals, world.env, command), command, commands)
  try {
    // A remote dry run checks the operator's role, because no change is sent that the server could reject.
    if (
      shell.globals.dryRun === true &&
      shell.globals.url !== undefined &&
      command.impact === 'write' &&
      command.apis.includes('operator')
    )
      await (await import('./roles')).assertRole(shell, command)
    const once = () => command.run(shell, input)
    await (globals.watch && command.watchable ? repeat(shell, once) : once())
    return shell.exitCode
  } finally {
    await shell.disconnect()
  }
}

/** On a terminal, each round overwrites the last. In a pipe, prints each change as a line (docs/operating.md 2.3). */
async function repeat(shell: Shell, once: () => Promise<void>): Promise<void> {
  while (!shell.signal.aborted) {
    if (shell.io.outIsTty) shell.io.raw('\u001b[H\u001b[2J')
    await once()
    await shell.clock.sleep(shell.globals.watchEvery ?? WATCH_PAUSE_MS, shell.signal)
  }
  shell.exitCode = EXIT.interrupted
}

const EXIT_OF_KIND: Partial<Record<AppError['kind'], number>> = {
  invalid: EXIT.usage,
  missing: EXIT.missing,
  conflict: EXIT.conflict,
  unavailable: EXIT.unreachable,
}

/** A failure from outside the CLI: the configuration, the app opened inside the command, or a bug. */
function fromOutside(error: unknown): CommandFailed {
  const message = error instanceof Error ? error.message : String(error)
  // Compared by name, because importing the class would load the schema compiler even for `--version`.
  if (error instanceof Error && error.name === 'ConfigError')
    return new CommandFailed({ exitCode: EXIT.failed, code: 'config_invalid', message, help: 'environment' })
  if (error instanceof AppError)
    return new CommandFailed({ exitCode: EXIT_OF_KIND[error.kind] ?? EXIT.failed, code: error.code, message })
  const fix = 'the same command with --debug shows where'
  return new CommandFailed({ exitCode: EXIT.failed, code: 'unexpected', message, fix })
}

/** Prints a failure to stderr: lines for people, else the API's error envelope (docs/operating.md 2.4). */
function reportFailure(io: Io, failure: CommandFailed, format: Format, paint: Paint): void {
  if (isStructured(format)) {
    const { message, type, code, requestId = null, exitCode: exit_code, fix: hint = null } = failure
    io.err(safeJson({ error: { message, type, code, request_id: requestId }, exit_code, hint }))
    return
  }
  const lines = clean(failure.message).split('\n')
  // Only the message is wrapped: what fixes it may be pasted.
  const wrapped = io.width === null ? lines : lines.flatMap((line) => wrap(line, Math.max(30, io.width! - 7)))
  io.err(`${paint('bad', 'error:')} ${wrapped.join('\n       ')}`)
  if (failure.fix) io.err(`${paint('strong', 'fix:')}   ${clean(failure.fix)}`)
  const help = failure.help && `svc-admin help ${failure.help}`
  const request = failure.requestId && `request ${failure.requestId}`
  const last = [help, request].filter(Boolean).join('      ')
  if (last) io.err(`${paint('strong', 'help:')}  ${clean(last)}`)
}
