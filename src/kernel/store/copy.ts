import { type CopiedRow, openEnd, type TableShape } from './copy-ends'
import { type DatabaseLocation, markUnfinished, migrate, unmark } from './migrate'
import { tablesOf } from './shape'

export type CopiedTable = {
  table: string
  rows: number
  /** The sum of the hashes of its rows, in hexadecimal, which does not depend on their order. */
  hash: string
  /** Rows with characters that Postgres cannot store, which were left out of it. */
  changed: number
}

type Options = {
  /** Looks at the copy before it counts as finished. Returns what is wrong with it, a sentence each. */
  verify(): Promise<string[]>
  /** Told of every batch: the rows of that table so far. */
  onProgress(table: string, rows: number, step: 'copied' | 'compared'): void
}

/**
 * Copies every row of one database into another, which is empty, and compares both. Until all is well a start on the
 * target refuses. No server may use either.
 * @throws Error when rows differ or the copy does not verify; it stays marked as unfinished
 */
export async function copyDatabase(
  from: DatabaseLocation,
  to: DatabaseLocation,
  { verify, onProgress }: Options,
): Promise<CopiedTable[]> {
  await markUnfinished(to)
  await migrate(to)
  const tables = tablesOf()
  const source = await openEnd(from)
  const target = await openEnd(to)
  const copied: CopiedTable[] = []
  try {
    for (const table of tables) {
      const sum = createSum(table)
      let changed = 0
      let writing: Promise<unknown> = Promise.resolve()
      // A batch is read while the one before is written.
      for await (const rows of source.read(table)) {
        await writing
        const { stored, done } = target.write(table, rows)
        writing = done
        // Awaited in the next round, or below.
        done.catch(() => undefined)
        for (const [at, row] of stored.entries()) {
          sum.add(row)
          if (row !== rows[at]) changed += 1
        }
        onProgress(table.name, sum.rows(), 'copied')
      }
      await writing
      copied.push({ table: table.name, rows: sum.rows(), hash: sum.hash(), changed })
    }
    await target.settle(tables)
    const problems: string[] = []
    for (const [at, table] of tables.entries()) {
      const sum = createSum(table)
      for await (const rows of target.read(table)) {
        for (const row of rows) sum.add(row)
        onProgress(table.name, sum.rows(), 'compared')
      }
      const { rows, hash } = copied[at]!
      if (rows !== sum.rows()) problems.push(`${table.name} has ${sum.rows()} rows instead of ${rows}.`)
      else if (hash !== sum.hash()) problems.push(`The rows of ${table.name} differ from the source.`)
    }
    problems.push(...(await verify()))
    if (problems.length) throw new Error(`The copy differs from the source. ${problems.join(' ')}`)
  } finally {
    await source.close()
    await target.close()
  }
  await unmark(to)
  return copied
}

const MASK = (1n << 64n) - 1n

function createSum({ columns }: TableShape) {
  let [rows, sum] = [0, 0n]
  return {
    add(row: CopiedRow): void {
      const values = columns.map(({ name, type }) => (type === 'jsonb' ? sorted(row[name]) : row[name]))
      rows += 1
      sum = (sum + BigInt(Bun.hash(JSON.stringify(values)))) & MASK
    },
    rows: () => rows,
    hash: () => sum.toString(16).padStart(16, '0'),
  }
}

/** A JSON value with its members in one order: Postgres has one of its own. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]))
}
