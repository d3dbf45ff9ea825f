import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { bundled, NO_RELEASE, RELEASE_FACTS, type Release, ROOT } from '../../src/app/bundle'
import { defineCommand } from '../command'
import { column } from '../output/columns'

export const version = defineCommand({
  path: 'version',
  summary: 'Print the versions of svc and its runtime',
  about:
    'Needs no server and no configuration. `svc-admin --version` prints the same. The commit and the hash of the OpenAPI document come from the bundle; without a bundle they are unknown.',
  examples: ['version', 'version --json'],
  apis: ['host'],
  impact: 'read',
  columns: [
    column('version', 'SVC'),
    column('commit', 'COMMIT'),
    column('bun', 'BUN'),
    column('platform', 'PLATFORM'),
    column('migrations', 'MIGRATIONS', { kind: 'number' }),
    column('openapi', 'OPENAPI'),
  ],
  async run(shell) {
    const file = bundled(RELEASE_FACTS)
    const { commit, openapi } = file ? json<Release>(file) : NO_RELEASE
    // Both databases have as many.
    const facts = {
      version: manifest.version,
      commit,
      bun: Bun.version,
      platform: `${process.platform}-${process.arch}`,
      migrations: json<{ entries: unknown[] }>(join(ROOT, 'drizzle/sqlite/meta/_journal.json')).entries.length,
      openapi,
    }
    shell.print.item(facts, version.columns!)
  },
})

const json = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8'))
