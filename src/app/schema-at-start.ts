import { join } from 'node:path'
import { ConfigError } from '../kernel/config'
import { type DatabaseLocation, migrate, schemaOf } from '../kernel/store'
import type { Config } from './config'

/** Brings the schema up to date, unless the settings leave that to someone. Throws ConfigError for one of another release. */
export async function prepareSchema(location: DatabaseLocation, config: Config) {
  const schema = await schemaOf(location)
  if (schema.applied > schema.known) {
    throw new ConfigError([
      `The database has ${schema.applied} migrations and this release knows ${schema.known}. Start the newer release; nothing was changed.`,
    ])
  }
  if (schema.strange) {
    throw new ConfigError([
      `The database (${config.databaseUrl ? 'SVC_DATABASE_URL' : join(config.dataDir, 'svc.db')}) was made by another development version of svc, and its tables are not this one's. Start the version that made it, or begin anew with another ${config.databaseUrl ? 'database' : 'SVC_DATA_DIR'}; nothing was changed.`,
    ])
  }
  if (schema.applied === schema.known || config.migrate === 'off') return schema
  if (config.migrate === 'check') {
    throw new ConfigError([`The database lacks ${schema.known - schema.applied} migrations. Run: svc-admin migrate up`])
  }
  await migrate(location)
  return schema
}
