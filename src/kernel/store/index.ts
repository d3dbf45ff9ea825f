/** The store: tables defined once for both databases, reads, and units of work, which commit as a whole. */
export { type CopiedTable, copyDatabase, isEmpty, lackingIn, wipe } from './copy'
export { isAway, isBusy, isDiskFull, isUniqueViolation } from './errors'
export { type DatabaseLocation, inTurn, knownMigrations, migrate, removedAfter, type Schema, schemaOf } from './migrate'
export { openPostgres } from './postgres'
export { openSqlite } from './sqlite'
export {
  addedOf,
  allOf,
  command,
  counted,
  databaseNow,
  defineClusteredTable,
  defineTable,
  defineView,
  excludedOf,
  insertAll,
  insertListed,
  type Kit,
  locked,
  postgresNow,
  query,
  type Reader,
  type Row,
  riskySettings,
  rowsIn,
  type Store,
  someOf,
  type Table,
  type Tx,
  unlocked,
} from './store'
export type { Changes, TrackedTable, Wire } from './wire'
