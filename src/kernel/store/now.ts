import { type SQL, sql } from 'drizzle-orm'
import type { Dialect } from './store'

/** Epoch milliseconds by the clock of Postgres. */
export const postgresNow = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`

/** Epoch milliseconds by the clock of the database, which all its processes share; one process has an SQLite file. */
export const databaseNow = ({ dialect }: { dialect: Dialect }, own: number): SQL<number> =>
  dialect === 'postgres' ? postgresNow : sql<number>`${own}`
