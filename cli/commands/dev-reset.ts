import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { type Config, loadConfig } from '../../src/app/config'
import { defineCommand } from '../command'
import { EXIT } from '../exit'
import { CommandFailed } from '../failure'
import { column } from '../output/columns'
import { overridesOf } from '../overrides'
import { notForProduction } from '../seed/dev-only'
import type { Shell } from '../shell'

const columns = [column('folder', 'FOLDER'), column('database', 'DATABASE'), column('reset', 'RESET', { kind: 'flag' })]

export const devReset = defineCommand({
  path: 'dev reset',
  summary: 'Delete the database and files of a development server',
  about:
    'This cannot be undone. Secrets, the configuration and backups stay. Engines that you added are deleted with the database. It asks for the name of the data folder, and the server must be stopped. Not available in production mode.',
  examples: ['dev reset --confirm data', 'dev reset --data-dir ./try --dry-run'],
  apis: ['host'],
  impact: 'write',
  danger: 'severe',
  exits: [1, 5],
  columns,
  async run(shell) {
    const config = loadConfig(overridesOf(shell))
    if (shell.planned(`delete the database and files of ${config.dataDir}`)) return
    await resetData(shell, config)
    const database = config.databaseUrl ? 'postgres' : 'svc.db'
    shell.print.item({ folder: config.dataDir, database, reset: true }, columns)
    shell.note('Fill it again: svc-admin dev seed')
  },
})

/** Asks for the name of the folder, and deletes the data. @throws CommandFailed 2, 5 */
export async function resetData(shell: Shell, config: Config): Promise<void> {
  const { dataDir, production, databaseUrl } = config
  if (production) throw notForProduction('dev reset')
  const name = basename(dataDir)
  const what = databaseUrl ? 'the tables of the Postgres database and the files' : 'the database and the files'
  if (existsSync(dataDir)) shell.confirmName(`Delete ${what} of ${dataDir}? This cannot be undone.`, name)
  try {
    await (await import('../../src/app/reset')).resetData(config)
  } catch (error) {
    const { name: kind, message } = error as Error
    if (kind !== 'ConfigError') throw error
    throw new CommandFailed({ exitCode: EXIT.conflict, code: 'conflict', message, fix: 'stop the server first' })
  }
}
