/** The store: tables defined once for both databases, reads, and units of work, which commit as a whole. */
export { isBusy, isDiskFull, isUniqueViolation } from './errors'
export { defineClusteredTable, defineTable, type Kit, type Row, type Table } from './kit'
export { type DatabaseLocation, inTurn, migrate, schemaOf } from './migrate'
export { openPostgres } from './postgres'
export { lackingIn, wipe } from './shape'
export { openSqlite } from './sqlite'
export { command, counted, type Dialect, query, type Reader, type Store, type Tx } from './store'
export type { Wire } from './wire'
