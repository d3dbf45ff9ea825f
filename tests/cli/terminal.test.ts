import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanEnv, type ServerProcess, startServerProcess } from '../support/server-process'

const LAUNCHER = join(import.meta.dir, '../../svc-admin')
const folder = mkdtempSync(join(tmpdir(), 'svc-terminal-'))
let server: ServerProcess

beforeAll(async () => {
  server = await startServerProcess({
    dataDir: join(folder, 'data'),
    cwd: folder,
    command: [LAUNCHER, 'serve', '--dev'],
  })
})
afterAll(async () => {
  await server.kill()
  rmSync(folder, { recursive: true, force: true })
})

/** A run in a terminal of its own; `answers` are typed when what they answer to appears. */
async function typed(args: string[], answers: [RegExp, string][] = [], cols = 100) {
  const { CI: _ci, NO_COLOR: _noColor, ...env } = cleanEnv({ TERM: 'xterm-256color' })
  const waiting = [...answers]
  let screen = ''
  const decoder = new TextDecoder()
  const child = Bun.spawn([LAUNCHER, ...args], {
    cwd: folder,
    env,
    terminal: {
      cols,
      rows: 30,
      data: (terminal, bytes) => {
        screen += decoder.decode(bytes, { stream: true })
        const [next] = waiting
        if (!next?.[0].test(screen)) return
        waiting.shift()
        terminal.write(next[1])
      },
    },
  })
  return { exitCode: await child.exited, screen }
}

describe('in a terminal', () => {
  test('a moderate change asks, and no is no', async () => {
    const line = ['keys', 'revoke', 'Dev laptop', '--reason', 'x']
    const { exitCode, screen } = await typed(line, [[/\[y\/N\] $/, 'n\n']])
    expect(exitCode).toBe(1)
    expect(screen).toContain('Revoke key "Dev laptop"')
    expect(screen).toContain('Nothing was changed.')
  })

  test('yes is yes', async () => {
    await typed(['keys', 'create', '--name', 'short-lived'])
    const { exitCode, screen } = await typed(
      ['keys', 'revoke', 'short-lived', '--reason', 'x'],
      [[/\[y\/N\] $/, 'y\n']],
    )
    expect(exitCode).toBe(0)
    expect(screen).toMatch(/status +revoked/)
  })

  test('a secret is typed without being shown', async () => {
    const line = 'engines add hidden --base-url http://127.0.0.1:9/v1 --no-test --config svc.server.json'.split(' ')
    await Bun.write(join(folder, 'svc.server.json'), '{}')
    const { exitCode, screen } = await typed(line, [[/\(hidden\): $/, 'canary-typed\n']])
    expect(exitCode).toBe(0)
    expect(screen).not.toContain('canary-typed')
  })

  test('the address of an upstream is requested before its key', async () => {
    const { exitCode, screen } = await typed(
      ['engines', 'add', 'asked', '--no-test'],
      [
        [/Address, such as \S+: $/, 'http://127.0.0.1:9/v1\n'],
        [/\(hidden\): $/, 'canary-second\n'],
      ],
    )
    expect(exitCode).toBe(0)
    expect(screen.indexOf('Address') < screen.indexOf('(hidden)')).toBe(true)
    const empty = await typed(['engines', 'add', 'other', '--no-test'], [[/Address, such as \S+: $/, '\n']])
    expect(empty.exitCode).toBe(2)
    expect(empty.screen).toContain('The address is empty.')
  })

  test('Ctrl-C at a question ends at once, with 130 and nothing changed', async () => {
    const line = ['keys', 'revoke', 'Dev laptop', '--reason', 'x']
    const { exitCode, screen } = await typed(line, [[/\[y\/N\] $/, '\u0003']])
    expect(exitCode).toBe(130)
    expect(screen).toContain('Nothing was changed.')
    expect((await typed(['keys', 'get', 'Dev laptop'])).screen).toMatch(/status +active/)
  })

  test('Ctrl-C while a secret is typed ends at once, and nothing is saved', async () => {
    const line = ['engines', 'add', 'never', '--base-url', 'http://127.0.0.1:9/v1', '--no-test']
    const { exitCode, screen } = await typed(line, [[/\(hidden\): $/, 'half a sec\u0003']])
    expect(exitCode).toBe(130)
    expect(screen).not.toContain('half a sec')
    expect((await typed(['engines', 'list'])).screen).not.toContain('never')
  })

  test('a table is cut to the width, and an error is red', async () => {
    await typed(['keys', 'create', '--name', 'of a person who says all of it '.repeat(3).trim(), '--yes'])
    const { screen } = await typed(['keys', 'list'], [], 80)
    for (const line of screen.split(/\r?\n/)) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(80)
    expect(screen).toContain('…')
    expect((await typed(['nonsense'])).screen).toContain('\u001b[91merror:')
  })

  test('--no-input never asks', async () => {
    const { exitCode, screen } = await typed(['keys', 'revoke', 'Dev laptop', '--reason', 'x', '--no-input'])
    expect(exitCode).toBe(2)
    expect(screen).toContain('add --yes')
  })
})
