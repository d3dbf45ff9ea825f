import { expect, test } from 'bun:test'
import { getTableName } from 'drizzle-orm'
import { findTables } from '../../drizzle/tables'

const names = (await findTables()).map(({ table }) => getTableName(table.sqlite)).sort()

test('the list of tables has every table that is defined in src', async () => {
  const files = await Array.fromAsync(new Bun.Glob('src/**/*.ts').scan('.'))
  const defined = (await Promise.all(files.map((file) => Bun.file(file).text()))).flatMap((text) => [
    ...text.matchAll(/= define(?:Clustered)?Table\(\s*'(\w+)'/g),
  ])
  expect(names.length).toBeGreaterThan(40)
  expect(names).toEqual(defined.map(([, name]) => name!).sort())
})

test.each(['sqlite', 'postgres'])('the migrations of %s create each of them', async (dialect) => {
  const files = await Array.fromAsync(new Bun.Glob(`drizzle/${dialect}/*.sql`).scan('.'))
  const text = (await Promise.all(files.map((file) => Bun.file(file).text()))).join('\n')
  const created = new Set([...text.matchAll(/^CREATE TABLE ["`](\w+)["`]/gm)].map(([, name]) => name!))
  expect(names.filter((name) => !created.has(name))).toEqual([])
})
