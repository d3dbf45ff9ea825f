import { clean } from '../../src/kernel/text'
import { defineCommand } from '../command'
import type { Context, Result } from '../doctor'
import { CheckFailed, usageFailure } from '../failure'
import { formatOf } from '../globals'
import { column } from '../output/columns'
import { overridesOf } from '../overrides'
import type { Shell } from '../shell'
import { didYouMean } from '../suggest'
import { list, words } from '../words'

export const columns = [
  column('check', 'CHECK'),
  column('status', 'RESULT'),
  column('detail', 'EVIDENCE'),
  column('fix', 'FIX'),
  column('ms', 'MS', { kind: 'number', wide: true }),
]

export const doctor = defineCommand({
  path: 'doctor',
  summary: 'Check this machine and this server, and say how to mend what is wrong',
  about:
    'Each check says ok, warn, fail or skip, with its evidence and one command that mends it. Exits 9 when a check fails; warnings do not count. The names of checks never change their meaning, so a monitor can rely on the JSON.',
  examples: ['doctor', 'doctor database engines', 'doctor --skip backups --json'],
  apis: ['operator', 'host'],
  offline: true,
  impact: 'read',
  danger: 'none',
  exits: [7, 9],
  columns,
  watchable: true,
  args: { checks: words('names of checks; all by default') },
  flags: { only: list('a,b', 'only these checks'), skip: list('a,b', 'leave these checks out') },
  async run(shell, { checks, only, skip }) {
    const { CHECKS, elsewhere, runChecks } = await import('../doctor')
    const names = CHECKS.map(({ name }) => name)
    const chosen = [...checks, ...(only ?? [])]
    for (const name of [...chosen, ...(skip ?? [])]) assertCheck(name, names)
    const wanted = names.filter((name) => (!chosen.length || chosen.includes(name)) && !skip?.includes(name))
    // Checks that the chosen ones depend on run too, so that the result can be trusted, but are not shown.
    const results = await runChecks(shell.globals.url ? elsewhere(CHECKS) : CHECKS, await contextOf(shell))
    const shown = results.filter(({ check }) => wanted.includes(check))
    if (formatOf(shell.globals) === 'table') draw(shell, shown)
    else shell.print.list(shown, columns, 'No checks.')
    if (shown.some(({ status }) => status === 'fail')) throw new CheckFailed()
  },
})

function assertCheck(name: string, names: readonly string[]): void {
  if (names.includes(name)) return
  throw usageFailure(`There is no check "${name}".${didYouMean(name, names)} Checks: ${names.join(', ')}.`)
}

async function contextOf(shell: Shell): Promise<Context> {
  const { loadConfig } = await import('../../src/app/config')
  return {
    shell,
    config: () => loadConfig(overridesOf(shell)),
    connect: () => shell.connect(),
  }
}

const TONES = { ok: 'good', warn: 'warn', fail: 'bad', skip: 'dim' } as const

/** Not a table: the evidence may be long, and the fix is on its own line, ready to paste. */
export function draw({ io, paint, note, globals }: Shell, results: readonly Result[]): void {
  const width = Math.max(0, ...results.map(({ check }) => check.length))
  const indent = ' '.repeat(width + 8)
  for (const { check, status, detail, fix } of results) {
    if (globals.quiet && status === 'ok') continue
    io.out(`${check.padEnd(width)}  ${paint(TONES[status], status.padEnd(4))}  ${clean(detail)}`)
    if (fix) io.out(`${indent}fix: ${clean(fix)}`)
  }
  const count = (status: Result['status']) => results.filter((result) => result.status === status).length
  if (count('fail') || count('warn')) note(`\n${count('fail')} failed, ${count('warn')} warnings`)
}
