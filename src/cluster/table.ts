import { defineTable } from '../kernel/store'

/** What a process says of itself. Milliseconds; `load` is that of its machine over one minute. */
export type NodeState = {
  version: string
  host: string
  pid: number
  /** Where its API listens; null where it has another role. */
  address: string | null
  load: number
  /** How late its event loop was. */
  lag_ms: number
  /** Requests and streams that are open, and connections that are upgraded. */
  connections: number
  /** Jobs that run. */
  jobs: number
  clock_ahead_ms: number
}

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
    /** When it first joined; null for nodes of earlier versions. */
    since: k.ms('since'),
    /** What it says of itself with each renewal. */
    state: k.json<NodeState>('state'),
    /** When an operator asked it to take no more work; null while it takes some. */
    drain_at: k.ms('drain_at'),
  }),
)

/** One row: which secrets this database was written with, by a hash that does not tell them (docs/api.md 22.7). */
export const databaseSecrets = defineTable((k) =>
  k.table('database_secrets', {
    id: k.int('id').primaryKey(),
    fingerprint: k.text('fingerprint').notNull(),
    /** The secrets themselves, sealed with the master key of the nodes; null where each node has them in a file. */
    wrapped: k.text('wrapped'),
    /** Name of that key, which does not tell it. */
    wrapped_by: k.text('wrapped_by'),
  }),
)
