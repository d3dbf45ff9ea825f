import { hasOtherNodes } from '../cluster'
import { ConfigError } from '../kernel/config'
import { type DatabaseLocation, openPostgres, schemaOf } from '../kernel/store'

/**
 * On SQLite the lock of the data folder already ensures this.
 * @throws ConfigError while a node of another data folder serves the same database
 */
export async function assertAlone(location: DatabaseLocation, home: string, why = ''): Promise<void> {
  if (location.dialect === 'sqlite' || (await schemaOf(location)).applied === 0) return
  const store = openPostgres({ url: location.url })
  try {
    if (await hasOtherNodes(store, home))
      throw new ConfigError([`Other nodes are using this database. Stop them first; nothing was changed.${why}`])
  } finally {
    await store.close()
  }
}
