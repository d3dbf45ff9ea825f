/** Every table, as SQLite sees it: what drizzle-kit reads to make `drizzle/sqlite/*.sql`. */
export {}
