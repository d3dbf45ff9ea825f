import { defineTable } from '../kernel/store'

/**
 * A process that serves this database with others. Empty on SQLite, where one process holds the file. Times are those
 * of the database, so that nodes whose clocks differ agree.
 */
export const nodes = defineTable((k) =>
  k.table('nodes', {
    /** New at each start. */
    id: k.text('id').primaryKey(),
    /** The data folder, which one process at a time can use; null until the process has joined. */
    home: k.text('home'),
    /** What it does, comma-separated; empty for a command, null until the process has joined. */
    roles: k.text('roles'),
    /** Whether it keeps files in its own data folder, where no other node can read them. */
    own_files: k.bool('own_files'),
    lease_until: k.ms('lease_until').notNull(),
  }),
)

/** One row: which secrets this database was written with, by a hash that does not tell them (contract 22.7). */
export const databaseSecrets = defineTable((k) =>
  k.table('database_secrets', {
    id: k.int('id').primaryKey(),
    fingerprint: k.text('fingerprint').notNull(),
  }),
)
