import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Terminal } from '@xterm/headless'
import { eventually } from '../../support/eventually'
import { cleanEnv } from '../../support/server-process'

const ROOT = join(import.meta.dir, '../../..')

export type Pty = Awaited<ReturnType<typeof openPty>>

type Options = { columns?: number; rows?: number; env?: Record<string, string>; cwd?: string }

/** Runs a command in a terminal of its own, and keeps the screen as a terminal would show it. */
export async function openPty(args: readonly string[], { columns = 80, rows = 24, env: more = {}, cwd }: Options = {}) {
  // Where CI is set, also to nothing, Ink draws no screen.
  const { CI: _ci, NO_COLOR: _noColor, FORCE_COLOR: _force, ...own } = cleanEnv()
  const env = { ...own, TERM: 'xterm-256color', LANG: 'C.UTF-8', PATH: `${ROOT}:${own.PATH}`, ...more }
  const screen = new Terminal({ cols: columns, rows, allowProposedApi: true })
  let bytes = 0
  const child = Bun.spawn(['svc-admin', ...args], {
    cwd: cwd ?? tmpdir(),
    env,
    terminal: {
      cols: columns,
      rows,
      data: (_terminal, chunk) => {
        bytes += chunk.length
        screen.write(chunk)
      },
    },
  })
  const line = (at: number) =>
    screen.buffer.active.getLine(screen.buffer.active.baseY + at)?.translateToString(false, 0, screen.cols) ?? ''
  const lines = () => Array.from({ length: screen.rows }, (_, at) => line(at))
  const text = () =>
    lines()
      .map((one) => one.trimEnd())
      .join('\n')
  const type = (keys: string) => void child.terminal!.write(keys)
  /** Waits until the screen shows this. */
  const shows = (wanted: string | RegExp) =>
    eventually(text, (seen) => (typeof wanted === 'string' ? seen.includes(wanted) : wanted.test(seen)))
  return {
    pid: child.pid,
    exited: child.exited,
    text,
    lines,
    bytes: () => bytes,
    /** `alternate` while the dashboard has the screen, `normal` before and after. */
    buffer: () => screen.buffer.active.type,
    /** Whether anything was pushed out of the screen. */
    scrolled: () => screen.buffer.active.baseY > 0,
    /** How the cell is drawn. */
    cell: (x: number, y: number) => screen.buffer.active.getLine(y)?.getCell(x),
    type,
    /** Types keys and waits until the screen shows all of these. */
    async press(keys: string, ...wanted: (string | RegExp)[]) {
      type(keys)
      for (const one of wanted) await shows(one)
    },
    /** Leaves the dashboard, and answers the exit code. */
    quit: () => {
      type('q')
      return child.exited
    },
    resize(cols: number, newRows: number) {
      screen.resize(cols, newRows)
      child.terminal!.resize(cols, newRows)
    },
    shows,
    async close() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

/** A folder with the key of an operator, for `--url`. */
export function operatorKey() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-tui-'))
  const file = join(folder, 'key')
  writeFileSync(file, `svc_op_${'a'.repeat(43)}\n`, { mode: 0o600 })
  /** A profile of this user, with the same key. */
  const profile = (name: string, url: string) => {
    const place = join(folder, '.config', 'svc-admin')
    mkdirSync(join(place, 'keys'), { recursive: true, mode: 0o700 })
    const stored = { active: null, profiles: [{ name, url, production: false, org: null }] }
    writeFileSync(join(place, 'config.json'), JSON.stringify(stored), { mode: 0o600 })
    copyFileSync(file, join(place, 'keys', name))
  }
  /** A dashboard of the server at this address, for whom has the key. */
  const dashboard = (url: string, args: readonly string[] = [], options: Options = {}) =>
    openPty(['dashboard', '--url', url, '--key-file', file, ...args], {
      ...{ cwd: folder, ...options, env: { HOME: folder, ...options.env } },
    })
  return { folder, file, profile, dashboard, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
