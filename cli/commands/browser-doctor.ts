import { defineCommand } from '../command'
import { CheckFailed } from '../failure'
import { formatOf } from '../globals'
import { overridesOf } from '../overrides'
import { columns, draw } from './doctor'

/** Checks the browser of this machine, by starting it (dx 2.15). */
export const browserDoctor = defineCommand({
  path: 'browser doctor',
  summary: 'Test the browser of this machine for sessions',
  about:
    'Finds Chromium as the server does, starts it, renders a page and measures the time. Shows whether the sandbox works and which scripts have no font. Does not need a server. Exits 9 when a check fails.',
  examples: ['browser doctor', 'browser doctor --json'],
  apis: ['host'],
  impact: 'read',
  exits: [9],
  columns,
  async run(shell) {
    const [{ runChecks }, { browserChecks }, { loadConfig }] = await Promise.all([
      import('../doctor'),
      import('../doctor/browser'),
      import('../../src/app/config'),
    ])
    const context = { shell, config: () => loadConfig(overridesOf(shell)), connect: () => shell.connect() }
    const results = await runChecks(browserChecks(), context)
    if (formatOf(shell.globals) === 'table') draw(shell, results)
    else shell.print.list(results, columns, 'No checks.')
    if (results.some(({ status }) => status === 'fail')) throw new CheckFailed()
  },
})
