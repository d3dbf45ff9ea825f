import { mkdirSync, writeFileSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { bundled } from '../../src/app/bundle'
import { clean } from '../../src/kernel/text'
import { type Host, queryOf } from '../../tui/data/connection'
import type { Keymap } from '../../tui/keymap'
import { type PaletteCommand, SCREENS, type Screen, type Where } from '../../tui/state/model'
import { commandsOf } from '../command'
import { CommandFailed, EXIT, usageFailure } from '../failure'
import { type Environment, usesColor } from '../globals'
import { kebab } from '../program'
import type { Io, Shell } from '../shell'
import type { Connection } from '../transport'
import { choice, duration, flag } from '../words'
import { createProfiles } from './profiles'

const command = commandsOf('', { apis: ['operator'], exits: [] })
const REPLY_CHARS = 4_000

/** Commands that need the terminal for themselves, or never end. */
const NOT_INSIDE = /^(dashboard|serve|completion|.* (tail|watch|listen|attach|wait))$/
const RUN_MS = 60_000

export const dashboard = command`dashboard (live, writes): Watch and operate the server on one live screen
  Nine screens: overview, jobs, deliveries, takeovers, submissions, browser, keys, audit and logs. Press ? for the keys and : to run any command. A profile marked production starts read-only; --write, or :write in the dashboard, allows changes.
  $ dashboard
  $ dashboard --screen takeovers --bell
  $ dashboard --profile prod --read-only`({
  flags: {
    screen: choice(SCREENS, 'the first screen'),
    readOnly: flag('change nothing'),
    write: flag('allow changes even if the profile is marked production'),
    screenReader: {
      ...flag('for screen readers: print lines instead of a screen, and read words instead of keys'),
      env: 'INK_SCREEN_READER',
    },
    refresh: duration('DURATION', 'pause between refreshes, 1s to 10s; + and - change it'),
    bell: flag('ring the bell when a visitor asks for a person'),
    noMotion: flag('without a running clock, so the screen changes only when something happens'),
  },
  async run(shell, { readOnly, write, refresh = 1_000, ...rest }) {
    if (readOnly && write) throw usageFailure('--read-only and --write exclude each other.')
    if (refresh < 1_000 || refresh > 10_000) throw usageFailure('--refresh must be from 1s to 10s.')
    if (shell.planned('show the dashboard')) return
    const canWrite = readOnly ? false : write === true || shell.globals.inProfile?.production !== true
    await showDashboard(shell, { ...rest, canWrite, rate: Math.round(refresh / 1_000) })
  },
})

type Show = {
  screen?: Screen | undefined
  canWrite: boolean
  rate?: number
  /** A command line whose output is shown at the start. */
  first?: readonly string[]
  bell?: boolean
  noMotion?: boolean
  screenReader?: boolean
}

/**
 * Uses the whole terminal until the dashboard ends. @throws CommandFailed 2 without a terminal, 4 and 7 like other
 * commands
 */
export async function showDashboard(shell: Shell, { screen = 'overview', rate = 1, ...rest }: Show): Promise<void> {
  const { io, globals, env } = shell
  const { first, canWrite, bell, noMotion, screenReader } = rest
  if (!screenReader && !(io.outIsTty && process.stdin.isTTY && env.TERM !== 'dumb')) {
    throw usageFailure('The dashboard needs a terminal that can draw a screen.', 'svc-admin status --watch')
  }
  const early = screenReader ? null : dropEarlyKeys(process.stdin)
  // Checks the user's own settings before connecting to a server.
  const own = Promise.all([keymapOf(env), Promise.try(repliesOf, env)])
  // Loads React only here, as a production build.
  process.env.NODE_ENV ??= 'production'
  const made = bundled('tui.js')
  const loaded: Promise<typeof import('../../tui/start')> = made ? import(made) : import('../../tui/start')
  const prepared = Promise.all([loaded, own, own.then(() => shell.connect()), paletteOf()])
  const [{ startDashboard }, [keymap, replies], connection, commands] = await prepared.catch((error: unknown) => {
    early?.giveBack()
    throw error
  })
  await early?.end()
  const next = await startDashboard({
    host: hostOver(shell, connection),
    where: whereOf(shell, connection),
    options: {
      color: usesColor(globals, io.outIsTty, env),
      ascii: globals.ascii === true,
      motion: !noMotion,
      bell: bell === true,
      screenReader: screenReader === true,
    },
    commands,
    keymap,
    replies,
    canWrite,
    screen,
    rate,
    clock: shell.clock,
    ...(first ? { first } : {}),
  })
  if (next !== null) await goOnWith(shell, next)
}

/** The user's own keys: `tui.keys` in the file of the profiles. @throws CommandFailed 2 */
async function keymapOf(env: Environment): Promise<Keymap> {
  const { keymapWith } = await import('../../tui/keymap')
  try {
    return keymapWith(createProfiles(env).dashboardKeys())
  } catch (error) {
    if (error instanceof CommandFailed) throw error
    throw usageFailure(`"tui.keys": ${(error as Error).message}`, 'svc-admin profiles list names the file')
  }
}

async function paletteOf(): Promise<PaletteCommand[]> {
  const all = await (await import('../registry')).allCommands()
  return all.flatMap(({ path, args, summary, impact }) => {
    if (NOT_INSIDE.test(path)) return []
    const words = Object.entries(args).map(([name, { required }]) =>
      required ? `<${kebab(name)}>` : `[${kebab(name)}]`,
    )
    return [{ path, args: words.join(' '), summary, writes: impact === 'write' }]
  })
}

function whereOf({ globals, env }: Shell, { transport }: Connection): Where {
  const { inProfile, config, dataDir, keyFile } = globals
  const user = userInfo()
  const address = transport.kind === 'remote' ? transport.url : transport.kind === 'socket' ? 'this machine' : 'local'
  const given = [
    ['--config', config],
    ['--data-dir', dataDir],
    ['--key-file', inProfile ? undefined : keyFile],
    ['--socket', transport.kind === 'socket' ? transport.path : undefined],
    ['--url', transport.kind === 'remote' && !inProfile ? transport.url : undefined],
    ['--profile', inProfile?.name],
  ] as const
  const others = createProfiles(env).list()
  return {
    profiles: others.flatMap(({ name }) => (name === inProfile?.name ? [] : [name])),
    name: inProfile?.name ?? (transport.kind === 'remote' ? 'remote' : 'local'),
    address,
    version: manifest.version,
    production: inProfile?.production === true,
    operator: `${user.username}@${hostname()} (uid ${user.uid})`,
    flags: given.flatMap(([name, value]) => (value ? [name, value] : [])),
  }
}

function hostOver(shell: Shell, connection: Connection): Host {
  const { flags } = whereOf(shell, connection)
  return {
    stream: (wanted, ended) => connection.fetch(`stream?${queryOf(wanted)}`, ended),
    async read(path, ended) {
      const response = await connection.fetch(path, ended)
      const body = (await response.json().catch(() => null)) as { error?: { message?: string; code?: string } } | null
      if (response.ok) return body
      const message = body?.error?.message ?? `The server answered ${response.status}.`
      const exitCode = response.status === 401 || response.status === 403 ? EXIT.refused : EXIT.unreachable
      throw new CommandFailed({ exitCode, code: body?.error?.code ?? 'unexpected', message })
    },
    run: (argv, yes) => runInside(shell, [...flags, '--no-input', ...(yes ? ['--yes'] : []), ...argv]),
    save: async (text) => {
      const path = join(shell.cwd, `svc-key-${shell.clock.now()}.txt`)
      writeFileSync(path, `${text}\n`, { mode: 0o600, flag: 'wx' })
      return path
    },
    crashed(error) {
      const { XDG_STATE_HOME, HOME } = shell.env
      const home = XDG_STATE_HOME ?? (HOME ? join(HOME, '.local', 'state') : null)
      if (!home) return 'nowhere: there is no home folder'
      const path = join(home, 'svc-admin', `crash-${shell.clock.now()}.log`)
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        writeFileSync(path, `${(error as Error).stack ?? String(error)}\n`, { mode: 0o600 })
        return path
      } catch (problem) {
        return `nowhere: ${String((problem as Error).message)}`
      }
    },
  }
}

/** Starts the dashboard again for another server, as if it had been started with that profile. */
async function goOnWith({ io, env, cwd, clock, signal, takeSignals }: Shell, profile: string): Promise<void> {
  const [{ runCli }, { openConnection }] = await Promise.all([import('../run'), import('../open')])
  const world = { io, env, cwd, clock, signal, takeSignals, open: openConnection }
  const exitCode = await runCli(['dashboard', '--profile', profile], world)
  if (exitCode) throw new CommandFailed({ exitCode, code: 'profile', message: `Profile ${profile} cannot be used.` })
}

/** Runs a command as the shell would, and captures its output. */
async function runInside({ env, cwd, clock, signal }: Shell, argv: readonly string[]) {
  const [{ runCli }, { openConnection }] = await Promise.all([import('../run'), import('../open')])
  const [out, err]: [string[], string[]] = [[], []]
  const io: Io = {
    out: (line) => void out.push(`${line}\n`),
    raw: (text) => void out.push(text),
    err: (line) => void err.push(`${line}\n`),
    outIsTty: false,
    errIsTty: false,
    width: null,
    async *lines() {},
    inIsTty: false,
    readStdin: async () => '',
  }
  const exitCode = await runCli(argv, {
    io,
    env,
    cwd,
    clock,
    signal: AbortSignal.any([signal, AbortSignal.timeout(RUN_MS)]),
    takeSignals: () => new AbortController().signal,
    open: openConnection,
  })
  return { exitCode, out: out.join(''), err: err.join('') }
}

/** The user's saved replies, by short name: `tui.replies` in the file of the profiles. @throws CommandFailed 2 */
function repliesOf(env: Environment): ReadonlyMap<string, string> {
  const all: [string, unknown][] = Object.entries(createProfiles(env).savedReplies())
  const isGood = ([name, text]: [string, unknown]) =>
    /^[a-z0-9-]{1,20}$/.test(name) && typeof text === 'string' && text.length <= REPLY_CHARS
  const wrong = all.find((one) => !isGood(one))
  if (wrong)
    throw usageFailure(
      `"tui.replies": "${wrong[0].slice(0, 20)}" needs a name of lower-case letters, digits and hyphens, and a text of at most ${REPLY_CHARS} characters.`,
      'svc-admin profiles list names the file',
    )
  return new Map(all.map(([name, text]) => [name, clean(String(text))]))
}

/**
 * Takes over the keyboard before the screen appears. Typed keys are neither shown nor kept, except Ctrl-C. `end` also
 * drops keys still in transit and leaves the keyboard to the screen. `giveBack` restores the original state.
 */
function dropEarlyKeys(stdin: NodeJS.ReadStream) {
  const drop = (keys: Uint8Array) => {
    if (!String(keys).includes('\u0003')) return
    giveBack()
    process.kill(process.pid, 'SIGINT')
  }
  const stop = () => void stdin.off('data', drop)
  const giveBack = () => {
    stop()
    stdin.setRawMode(false)
  }
  stdin.setRawMode(true)
  stdin.on('data', drop)
  return {
    giveBack,
    async end(): Promise<void> {
      await new Promise((resolve) => setTimeout(resolve))
      stop()
    },
  }
}
