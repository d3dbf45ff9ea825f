import { afterAll } from 'bun:test'
import { createMigratedDatabase, postgresUrl } from '../support/store'
import { type Options, startTargetOn, type Target } from './support/target'

export { eventually } from '../support/eventually'
export type { Target } from './support/target'

/*
 * The attack catalogue (docs/attacks.md) against the real server: `bun src/main.ts` in a data folder of its own, asked
 * over sockets. A row that contradicts the contract yields to it, and its name says so.
 */

/** A server on the database of this run, an engine behind it, and callers of every kind. Gone when the file ends. */
export async function startTarget(options: Options = {}): Promise<Target> {
  const database = postgresUrl ? await createMigratedDatabase(postgresUrl) : null
  const target = await startTargetOn(database?.url ?? null, options)
  if (database) afterAll(database.drop)
  return target
}
