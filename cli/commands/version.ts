import manifest from '../../package.json' with { type: 'json' }
import { defineCommand } from '../command'
import { column } from '../output/columns'

export const version = defineCommand({
  path: 'version',
  summary: 'Print the version of svc and of what it runs on',
  about: 'Needs neither a server nor a configuration. `svc-admin --version` prints the same.',
  examples: ['version', 'version --json'],
  apis: ['host'],
  impact: 'read',
  columns: [column('version', 'SVC'), column('bun', 'BUN'), column('platform', 'PLATFORM')],
  async run(shell) {
    const facts = { version: manifest.version, bun: Bun.version, platform: `${process.platform}-${process.arch}` }
    shell.print.item(facts, version.columns!)
  },
})
