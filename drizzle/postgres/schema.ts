/** Every table, as Postgres sees it: what drizzle-kit reads to make `drizzle/postgres/*.sql`. */
export {}
