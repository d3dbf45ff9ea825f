import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { eq, getTableColumns, sql } from 'drizzle-orm'
import { drizzle as drizzlePostgres } from 'drizzle-orm/bun-sql'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { integer as pgInteger, pgTable, text as pgText } from 'drizzle-orm/pg-core'
import { blob, integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { ofConnection, onReadFailure, type Prepared, planned } from '../../src/kernel/store/prepared'

const things = sqliteTable('things', {
  id: text().primaryKey(),
  count: integer().notNull(),
  share: real(),
  is_on: integer({ mode: 'boolean' }),
  at: integer({ mode: 'timestamp_ms' }),
  facts: text({ mode: 'json' }).$type<object>(),
  bytes: blob({ mode: 'buffer' }),
})

const file = new Database(':memory:')
file.run('CREATE TABLE things (id TEXT PRIMARY KEY, count INTEGER NOT NULL, share REAL, is_on, at, facts, bytes)')
const db = drizzle({ client: file })
const full = {
  id: 'a',
  count: 7,
  share: 0.5,
  is_on: true,
  at: new Date(5_000),
  facts: { of: [1] },
  bytes: Buffer.from('x'),
}
await db.insert(things).values([full, { id: 'b', count: 8 }])
const named = (name: string) => sql.placeholder(name)

describe('the private parts of drizzle that are read', () => {
  test('a prepared statement tells its parameters and columns', () => {
    const select = db
      .select()
      .from(things)
      .where(eq(things.id, named('id')))
      .prepare()
    expect(select).toMatchObject({ query: { params: [expect.anything()] }, stmt: { values: expect.any(Function) } })
    const { fields } = select as unknown as { fields: { path: string[] }[] }
    expect(fields.map(({ path }) => path)).toEqual(Object.keys(full).map((name) => [name]))
    expect(db.delete(things).prepare()).toMatchObject({ fields: undefined })
  })

  test('a statement mapped once reads what drizzle reads, and binds what drizzle binds', async () => {
    const twice = sql<number>`${things.count} * 2`.mapWith(Number).as('twice')
    const columns = { ...getTableColumns(things), twice }
    const whole = db.select().from(things).prepare()
    expect(await planned(whole).prepared.execute({})).toEqual(await whole.execute())
    const one = db
      .select(columns)
      .from(things)
      .where(eq(things.id, named('id')))
      .prepare()
    const found = await planned(one).prepared.execute({ id: 'a' })
    expect(found).toEqual(await one.execute({ id: 'a' }))
    expect(found).toEqual([{ ...full, twice: 14 }])
    const values = Object.fromEntries(Object.keys(full).map((name) => [name, named(name)])) as never
    await planned(db.insert(things).values(values).prepare()).prepared.execute({ ...full, id: 'c' })
    expect(await one.execute({ id: 'c' })).toEqual([{ ...full, id: 'c', twice: 14 }])
  })

  test('a change mapped once changes as many rows', async () => {
    const change = db
      .update(things)
      .set({ count: 9 })
      .where(eq(things.id, named('id')))
      .prepare()
    expect(await planned(change).prepared.execute({ id: 'b' })).toMatchObject({ changes: 1 })
    expect(await planned(change).prepared.execute({ id: 'none' })).toMatchObject({ changes: 0 })
    expect(() => planned(change).prepared.execute({})).toThrow('No value for placeholder "id"')
  })

  test('reads of Postgres run by the session', async () => {
    const pool = drizzlePostgres({ client: new SQL('postgres://nobody@127.0.0.1:1/none', { connectionTimeout: 1 }) })
    onReadFailure(pool, () => new Error('named'))
    const read = async () => pool.select({ one: sql`1` }).from(sql`things`)
    expect(await read().catch(String)).toBe('Error: named')
  })
})

test('what was built in one transaction runs on the connection of another', async () => {
  const built = new Map<object, Prepared>()
  const key = {}
  const requests: string[] = []
  const on = (name: string) => {
    const client = {
      unsafe: (text: string) => {
        requests.push(`${name}: ${text}`)
        return Object.assign(Promise.resolve([]), { values: async () => [['a', 7]] })
      },
    }
    return drizzlePostgres({ client: client as never })
  }
  const [first, second] = [on('first'), on('second')]
  const table = pgTable('things', { id: pgText().primaryKey(), count: pgInteger().notNull() })
  const statement = first
    .update(table)
    .set({ count: 7 })
    .where(eq(table.id, named('id')))
    .returning()
  ofConnection(first, built).set(key, statement.prepare('one') as unknown as Prepared)
  expect(ofConnection(second, built).get({})).toBeUndefined()
  expect(await ofConnection(second, built).get(key)!.execute({ id: 'a' })).toEqual([{ id: 'a', count: 7 }])
  expect(requests).toEqual([expect.stringMatching(/^second: update "things"/)])
})
