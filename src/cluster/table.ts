import { defineTable } from '../kernel/store'

/** State that a process reports. Times in milliseconds; `load` is the one-minute load of its machine. */
export type NodeState = {
  version: string
  host: string
  pid: number
  /** Where its API listens; null without the API role. */
  address: string | null
  load: number
  /** Delay of its event loop. */
  lag_ms: number
  /** Open requests and streams, and upgraded connections. */
  connections: number
  /** Running jobs. */
  jobs: number
  clock_ahead_ms: number
}

/**
 * The processes that share this database. Empty on SQLite, where one process holds the file. All times come from the
 * database's clock, so that nodes with different clocks agree.
 */
export const nodes = defineTable('nodes', (k) => ({
  /** New at each start. */
  id: k.text('id').primaryKey(),
  /** The data folder, which one process at a time can use; null until the process has joined. */
  home: k.text('home'),
  /** Its roles, comma-separated; empty for a command, null until the process has joined. */
  roles: k.text('roles'),
  /** Whether it keeps files in its own data folder, where no other node can read them. */
  own_files: k.bool('own_files'),
  lease_until: k.ms('lease_until').notNull(),
  /** When it first joined; null for nodes of earlier versions. */
  since: k.ms('since'),
  /** The state it reports with each renewal. */
  state: k.json<NodeState>('state'),
  /** When an operator told it to take no more work; null while it takes work. */
  drain_at: k.ms('drain_at'),
}))

/** One row with a hash that identifies the secrets this database was written with (docs/api.md 22.7). */
export const databaseSecrets = defineTable('database_secrets', (k) => ({
  id: k.int('id').primaryKey(),
  fingerprint: k.text('fingerprint').notNull(),
  /** The secrets, encrypted with the nodes' master key; null if each node has them in a file. */
  wrapped: k.text('wrapped'),
  /** A fingerprint of that key. */
  wrapped_by: k.text('wrapped_by'),
}))
