import { join } from 'node:path'
import { ConfigError } from '../kernel/config'
import { type DatabaseLocation, migrate, type Schema, schemaOf } from '../kernel/store'
import type { Config } from './config'

/**
 * Brings the schema up to date, unless the settings leave that to someone; also while nodes of the release before serve,
 * so that nodes can be replaced one by one.
 * @throws ConfigError for a database of another release
 */
export async function prepareSchema(location: DatabaseLocation, config: Config): Promise<Schema> {
  const schema = await schemaOf(location)
  assertOurs(schema, config)
  if (schema.applied === schema.known || config.migrate === 'off') return schema
  if (config.migrate === 'check') {
    throw new ConfigError([`The database lacks ${schema.known - schema.applied} migrations. Run: svc-admin migrate up`])
  }
  await migrate(location)
  return schema
}

type Places = Pick<Config, 'databaseUrl' | 'dataDir'>

/** @throws ConfigError for a database of a newer release, of another development version, or of half a copy */
export function assertOurs(
  { applied, known, strange, madeBy, unfinished }: Schema,
  { databaseUrl, dataDir }: Places,
): void {
  if (unfinished) {
    throw new ConfigError([
      `A copy into the database (${databaseUrl ? 'SVC_DATABASE_URL' : join(dataDir, 'svc.db')}) did not finish, so the data is incomplete. Run svc-admin migrate copy again from the source database; it starts over.`,
    ])
  }
  if (applied > known) {
    throw new ConfigError([
      `The database has ${applied} migrations, but this release has only ${known}. Start the newer release. Nothing was changed.`,
    ])
  }
  if (strange) {
    const place = databaseUrl ? 'SVC_DATABASE_URL' : join(dataDir, 'svc.db')
    const elsewhere = `another ${databaseUrl ? 'database' : 'SVC_DATA_DIR'}`
    throw new ConfigError([
      madeBy
        ? `The database (${place}) is from before the first release whose data lasts: commit ${madeBy} made its tables. That commit opens it (git checkout ${madeBy.split(' ')[0]}) and writes out what you need: svc-admin usage export, audit export, skills export, policies export. Then begin anew with ${elsewhere}, and import it. Nothing was changed.`
        : `The database (${place}) was made by another development version of svc, and its tables are not this one's. Start the version that made it, or begin anew with ${elsewhere}; nothing was changed.`,
    ])
  }
}
