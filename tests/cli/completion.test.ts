import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { complete, nextOf } from '../../cli/commands/completion'
import { openConnection } from '../../cli/open'
import { allCommands } from '../../cli/registry'
import type { World } from '../../cli/shell'
import { realIo } from '../../cli/shell'
import { systemClock } from '../../src/kernel/clock'
import { cleanEnv, type ServerProcess, startServerProcess } from '../support/server-process'

const commands = await allCommands()
const LAUNCHER = join(import.meta.dir, '../../svc-admin')

/** The words offered where `|` stands at the end of a line. */
const offered = (...words: string[]) => nextOf(words, commands).candidates.map(({ word }) => word)

describe('what is offered', () => {
  test.each([
    [['ke'], ['keys', 'keyring']],
    [['keys', 'cr'], ['create']],
    [['key', 'cr'], ['create']],
    [['--org', 'acme', 'keys', 'cr'], ['create']],
    [
      ['keys', 'list', '-o', 'js'],
      ['json', 'jsonl'],
    ],
    [['keys', 'list', '--output', 'ya'], ['yaml']],
    [['keys', 'list', '--unu'], ['--unused']],
    [['keys', 'list', '--data'], ['--data-dir']],
    [['completion', ''], []],
    [['nothing', ''], []],
  ])('%j', (words, expected) => {
    expect(offered(...words).slice(0, 2)).toEqual(words[0] === 'nothing' ? offered('').slice(0, 2) : expected)
  })

  test('--fields offers the columns of the command', () => {
    const keys = commands.find(({ path }) => path === 'keys list')!
    expect(offered('keys', 'list', '--fields', '')).toEqual(keys.columns!.map(({ field }) => field))
  })

  test('an argument of a noun asks its list, a second one nobody', () => {
    expect(nextOf(['keys', 'get', ''], commands).listed?.path).toBe('keys list')
    expect(nextOf(['keys', 'get', 'a', ''], commands).listed).toBeNull()
    expect(nextOf(['version', ''], commands).listed).toBeNull()
  })
})

describe('in a shell', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-completion-'))
  const bin = join(folder, 'svc-admin')
  let server: ServerProcess
  const env = () => ({
    ...cleanEnv(),
    HOME: folder,
    PATH: `${folder}:${process.env.PATH}`,
    SVC_DATA_DIR: join(folder, 'data'),
  })
  const run = (program: string, ...args: string[]) =>
    Bun.spawnSync([program, ...args], { cwd: folder, env: env(), stdin: 'ignore' }).stdout.toString()

  beforeAll(async () => {
    symlinkSync(LAUNCHER, bin)
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

  test('bash completes a verb and a format', () => {
    const complete = (...words: string[]) =>
      run(
        'bash',
        '-c',
        `source <(svc-admin completion bash); COMP_WORDS=(svc-admin ${words.join(' ')}); COMP_CWORD=${words.length}; _svc_admin; printf '%s\\n' "\${COMPREPLY[@]}"`,
      ).trim()
    expect(complete('keys', 'cr')).toBe('create')
    expect(complete('keys', 'list', '-o', 'ya')).toBe('yaml')
  })

  test('an argument is completed with the ids that the server has', async () => {
    const [id] = run(bin, 'keys', 'list', '-o', 'id').trim().split('\n')
    const lines: string[] = []
    const world: World = {
      io: { ...realIo, out: (line) => lines.push(line) },
      env: env(),
      cwd: folder,
      // However long this machine takes.
      clock: { ...systemClock, sleep: () => new Promise(() => undefined) },
      signal: new AbortController().signal,
      takeSignals: () => new AbortController().signal,
      open: openConnection,
    }
    Object.assign(process.env, { SVC_DATA_DIR: join(folder, 'data') })
    await complete(['keys', 'get', id!.slice(0, 4)], commands, world)
    delete process.env.SVC_DATA_DIR
    expect(lines).toEqual([`${id}\tDev laptop`])
    expect(run(bin, '--data-dir', join(folder, 'none'), '__complete', '--', 'keys', 'get', '')).toBe('')
  })

  test('--install writes the script where the shell looks for it', () => {
    const place = join(folder, 'elsewhere')
    const path = run('env', `XDG_CONFIG_HOME=${place}`, bin, 'completion', 'fish', '--install').trim()
    expect(path).toBe(join(place, 'fish/completions/svc-admin.fish'))
    expect(readFileSync(path, 'utf8')).toBe(run(bin, 'completion', 'fish'))
  })

  test.each(['zsh', 'fish'])('%s reads its script and asks for words', (shell) => {
    if (!Bun.which(shell)) {
      process.stdout.write(`NOT RUN: completion in ${shell}, because it is not installed.\n`)
      return
    }
    const log = join(folder, `${shell}.log`)
    const fake = join(folder, shell, 'svc-admin')
    mkdirSync(join(fake, '..'))
    writeFileSync(fake, `#!/bin/sh\necho "$@" >> ${log}\nprintf 'create\\tMake a key\\n'\n`)
    chmodSync(fake, 0o755)
    writeFileSync(join(folder, `script.${shell}`), run(bin, 'completion', shell))
    const line =
      shell === 'fish'
        ? `source ${folder}/script.fish; complete -C '${fake} keys cr'`
        : `autoload -Uz compinit; compinit -u -d ${folder}/dump; source ${folder}/script.zsh; words=(${fake} keys cr); CURRENT=3; _describe() { print -r -- "\${found[@]}" }; _svc_admin`
    expect(run(shell, ...(shell === 'zsh' ? ['-f'] : []), '-c', line)).toContain('create')
    expect(readFileSync(log, 'utf8')).toContain('__complete -- keys cr')
  })
})
