import { describe, expect, test } from 'bun:test'
import { chmodSync, copyFileSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isListening } from '../support/listening'
import { cleanEnv, startServerProcess } from '../support/server-process'
import { temporaryFolder } from '../support/temporary-folder'

const LAUNCHER = join(import.meta.dir, '../../svc-admin')
const folder = realpathSync(temporaryFolder('svc-launcher-'))

function run(program: string, args: string[], { cwd = folder, path }: { cwd?: string; path?: string } = {}) {
  const child = Bun.spawnSync([program, ...args], { cwd, env: cleanEnv(path === undefined ? {} : { PATH: path }) })
  return { exitCode: child.exitCode, stdout: child.stdout.toString(), stderr: child.stderr.toString() }
}

let made = 0
/** A PATH with the tools every system has and these programs instead of the real ones. */
function pathWith(programs: Record<string, string>): string {
  const bin = join(folder, `bin-${++made}`)
  mkdirSync(bin)
  for (const tool of ['sh', 'readlink', 'dirname']) symlinkSync(Bun.which(tool)!, join(bin, tool))
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  return bin
}

/** A copy of the launcher in a folder where Bun is not installed, or is this program. */
function copyWith(installed?: string): string {
  const root = join(folder, `root-${++made}`)
  mkdirSync(join(root, 'node_modules/.bin'), { recursive: true })
  copyFileSync(LAUNCHER, join(root, 'svc-admin'))
  if (installed !== undefined)
    writeFileSync(join(root, 'node_modules/.bin/bun'), `#!/bin/sh\n${installed}\n`, { mode: 0o755 })
  return join(root, 'svc-admin')
}

/** What npx says it fetched: a program that does `script`. */
const fetchedBun = (script: string): string => join(pathWith({ bun: script }), 'bun')

describe('the launcher', () => {
  test('works from any directory and through a chain of links, absolute and relative', () => {
    const elsewhere = join(folder, 'a folder')
    mkdirSync(elsewhere)
    symlinkSync(LAUNCHER, join(folder, 'first'))
    symlinkSync('../first', join(elsewhere, 'second'))
    for (const program of [LAUNCHER, join(folder, 'first'), join(elsewhere, 'second')]) {
      const { exitCode, stdout } = run(program, ['version', '--json'], { cwd: elsewhere })
      expect({ exitCode, bun: JSON.parse(stdout).bun }).toEqual({ exitCode: 0, bun: Bun.version })
    }
  })

  test('hands on how it was typed, and the plain name where PATH finds it', () => {
    const path = pathWith({ bun: '[ "$1" = --version ] && echo 1.4.5 && exit; echo "$SVC_ADMIN_AS"' })
    const root = join(copyWith(), '..')
    const typed = (line: string) =>
      Bun.spawnSync(['sh', '-c', line], { cwd: root, env: cleanEnv({ PATH: `${path}:${root}` }) }).stdout.toString()
    expect(typed('./svc-admin')).toBe('./svc-admin\n')
    expect(typed('svc-admin')).toBe('svc-admin\n')
    expect(typed(`../${basename(root)}/svc-admin version`)).toBe(`../${basename(root)}/svc-admin\n`)
  })

  test('hands on every word as it is', () => {
    const path = pathWith({ bun: '[ "$1" = --version ] && echo 1.4.5 && exit; printf "[%s]" "$@"' })
    const { stdout } = run(copyWith(), ['try', 'two words', '', '*', "it's"], { path })
    expect(stdout).toEndWith("cli/main.ts][try][two words][][*][it's]")
  })

  test.each([
    ['1.4.0', 'bun'],
    ['1.10.2', 'bun'],
    ['2.0.0', 'bun'],
    ['1.3.9', 'npx'],
    ['0.9.1', 'npx'],
    ['nonsense', 'npx'],
  ])('with Bun %s on PATH runs %s', (version, program) => {
    const path = pathWith({
      bun: `[ "$1" = --version ] && echo ${version} && exit; echo bun`,
      npx: `echo ${fetchedBun('echo npx')}`,
    })
    expect(run(copyWith(), ['version'], { path }).stdout).toBe(`${program}\n`)
  })

  test.each([
    ['1.4.5', 'installed'],
    ['1.3.9', 'on PATH'],
    ["'' && exit 1", 'on PATH'],
  ])('with an installed Bun %s runs the one %s, and asks npx for nothing', (version, which) => {
    const bun = (name: string, says: string) => `[ "$1" = --version ] && echo ${says} && exit; echo ${name}`
    const path = pathWith({ bun: bun('on PATH', '1.4.0'), npx: 'echo npx >&2; exit 1' })
    expect(run(copyWith(bun('installed', version)), ['version'], { path })).toEqual({
      exitCode: 0,
      stdout: `${which}\n`,
      stderr: '',
    })
  })

  test('installs what it needs when node_modules is missing, and only then, with stdout left clean', () => {
    const fresh = join(folder, 'fresh')
    mkdirSync(fresh)
    copyFileSync(LAUNCHER, join(fresh, 'svc-admin'))
    const path = pathWith({ bun: '[ "$1" = --version ] && echo 1.4.5 && exit; echo "$PWD: $*"' })
    const first = run(join(fresh, 'svc-admin'), ['version'], { path })
    expect(first.stderr).toBe(`${fresh}: src/app/set-up.ts\n`)
    expect(first.stdout).toBe(`${folder}: ${fresh}/cli/main.ts version\n`)
    mkdirSync(join(fresh, 'node_modules'))
    expect(run(join(fresh, 'svc-admin'), ['version'], { path })).toEqual({ ...first, stderr: '' })
  })

  test('without Bun lets npx fetch it, and becomes it: there is one process to send signals to', () => {
    const bun = fetchedBun('echo "$$ $*"')
    const path = pathWith({ npx: `echo "$*" >&2; echo ${bun}` })
    const launcher = copyWith()
    const child = Bun.spawnSync([launcher, 'version', 'two words'], { env: cleanEnv({ PATH: path }) })
    expect(child.stderr.toString()).toBe('-y -p bun@1.4.5 -c command -v bun\n')
    expect(child.stdout.toString()).toBe(`${child.pid} ${join(launcher, '../cli/main.ts')} version two words\n`)
  })

  test('ends as npx does where npx cannot fetch it', () => {
    const { exitCode, stderr } = run(copyWith(), ['version'], { path: pathWith({ npx: 'echo offline >&2; exit 7' }) })
    expect({ exitCode, stderr }).toEqual({ exitCode: 7, stderr: 'offline\n' })
  })

  test('without either says what is needed', () => {
    const { exitCode, stdout, stderr } = run(copyWith(), ['version'], { path: pathWith({}) })
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toBe(
      'error: svc needs Bun 1.4 or newer; Bun here: not installed.\nfix:   bun upgrade, or install Node.js so that npx can fetch Bun\n',
    )
  })
})

describe('a server without Bun on PATH', () => {
  const tools = ['sh', 'readlink', 'dirname', 'env', 'node', 'npx']
  const missing = tools.filter((tool) => !Bun.which(tool))
  if (missing.length) process.stdout.write(`no ${missing.join(', ')} here: serving by way of npx is not tested\n`)

  test.if(missing.length === 0)(
    'ends with SIGTERM to the launcher, and nothing of it serves on',
    async () => {
      const path = join(folder, 'only-npx')
      mkdirSync(path)
      for (const tool of tools) symlinkSync(Bun.which(tool)!, join(path, tool))
      const server = await startServerProcess({
        dataDir: join(folder, 'data'),
        command: [LAUNCHER, 'serve'],
        env: { PATH: path },
      })
      expect(await server.stop()).toBe(0)
      expect(await isListening(server.url)).toBe(false)
    },
    120_000,
  )
})
