const PAGE = 1_000

/** Reads the rows of a table in key order, a page at a time, and lets requests run in between. */
export async function* pages<Row, Key>(
  read: (after: Key, limit: number) => Promise<Row[]>,
  start: Key,
  keyOf: (row: Row) => Key,
): AsyncGenerator<Row> {
  for (let after = start; ; ) {
    const rows = await read(after, PAGE)
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = keyOf(last)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}
