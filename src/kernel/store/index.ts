/** The store: tables defined once for both databases, reads, and units of work, which commit as a whole. */
export { type CopiedTable, copyDatabase, isEmpty, lackingIn, wipe } from './copy'
export { isBusy, isDiskFull, isUniqueViolation } from './errors'
export { insertAll, rowsIn, unlocked } from './many'
export { type DatabaseLocation, inTurn, knownMigrations, migrate, type Schema, schemaOf } from './migrate'
export { databaseNow, postgresNow } from './now'
export { openPostgres } from './postgres'
export { openSqlite } from './sqlite'
export {
  allOf,
  command,
  counted,
  type Dialect,
  defineClusteredTable,
  defineTable,
  type Kit,
  query,
  type Reader,
  type Row,
  type Store,
  type Table,
  type Tx,
} from './store'
export type { Wire } from './wire'
