import { clean } from '../../src/kernel/text'
import { defineCommand } from '../command'
import { CheckFailed, expectData } from '../failure'
import { column } from '../output/columns'

const columns = [
  column('check', 'CHECK'),
  column('ok', 'HOLDS', { kind: 'flag' }),
  column('violations', 'VIOLATIONS', {
    // Each has a line of its own below; all of them in a cell would make every row of a pipe as wide.
    show: ({ violations }) => {
      const found = violations as string[]
      return found.length ? `${found.length}: ${found[0]}` : '-'
    },
  }),
  column('ms', 'MS', { kind: 'number' }),
]

export const verify = defineCommand({
  path: 'verify',
  summary: 'Check the integrity of the store: ledger, holds, audit chain',
  about:
    'Prints each check and what fails it. Exits 9 when a check fails. Nothing is changed. Works on a running server, on a stopped one, and with --data-dir on a copy of a data folder.',
  examples: ['verify', 'verify --data-dir ./copy --json', 'verify -q && echo sound'],
  apis: ['operator'],
  impact: 'read',
  exits: [9],
  columns,
  watchable: true,
  async run(shell) {
    const connection = await shell.connect()
    const { ok, checks } = expectData(await connection.ops().verify.post())
    const rows = checks.map((check) => ({ ...check, ok: check.violations.length === 0 }))
    if (!shell.globals.quiet) shell.print.list(rows, columns, 'Nothing was checked.')
    for (const { check, violations } of checks) {
      for (const violation of violations)
        shell.io.err(`${shell.paint('bad', 'broken:')} ${clean(`${check}: ${violation}`)}`)
    }
    if (!ok) throw new CheckFailed()
  },
})
