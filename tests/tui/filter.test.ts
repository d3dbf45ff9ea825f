import { describe, expect, test } from 'bun:test'
import { readFilter } from '../../tui/filter'

type Row = { id: string; status: string; http: number | null; age: number; name: string }
const fields = {
  status: ({ status }: Row) => status,
  http: ({ http }: Row) => http,
  age: ({ age }: Row) => age,
  name: ({ name }: Row) => name,
}
const rows: Row[] = [
  { id: 'a', status: 'failed', http: 503, age: 400_000, name: 'hooks.acme.dev' },
  { id: 'b', status: 'ok', http: 200, age: 10_000, name: 'two words' },
  { id: 'c', status: 'queued', http: null, age: 3_700_000, name: 'ops.acme.dev' },
]
const remaining = (text: string) =>
  rows
    .filter(readFilter(text, fields).matches)
    .map(({ id }) => id)
    .join('')

describe('the filter language', () => {
  test.each([
    ['', 'abc'],
    ['acme', 'ac'],
    ['ACME failed', 'a'],
    ['status:ok,queued', 'bc'],
    ['!status:ok', 'ac'],
    ['http:>=400', 'a'],
    ['http:<400', 'b'],
    ['http:200', 'b'],
    ['http:20', ''],
    ['age:>5m', 'ac'],
    ['age:>1h', 'c'],
    ['age:<=10s', 'b'],
    ['name:*.acme.*', 'ac'],
    ['name:hooks*', 'a'],
    ['name:*words', 'b'],
    ['"two words"', 'b'],
    ['name:"two words"', 'b'],
    ['"two', 'b'],
    ['!acme', 'b'],
    ['status:failed !name:hooks*', ''],
    ['http:>=x', ''],
  ])('%s keeps %s', (text, ids) => expect(remaining(text)).toBe(ids))

  test('names a field that there is not, and the one that was meant; it hides nothing', () => {
    expect(readFilter('stauts:ok', fields).wrong).toEqual([{ field: 'stauts', meant: 'status' }])
    expect(readFilter('colour:red', fields).wrong).toEqual([{ field: 'colour', meant: null }])
    expect(remaining('stauts:ok')).toBe('abc')
  })

  test('stays fast on what a stranger wrote, and on what a cat typed', () => {
    const long: Row = { id: 'x', status: 'a'.repeat(100_000), http: 1, age: 1, name: 'a'.repeat(100_000) }
    const started = performance.now()
    for (const text of [`name:${'*a'.repeat(90)}*b`, '*'.repeat(200), '"'.repeat(200), `!${'('.repeat(150)}`]) {
      readFilter(text, fields).matches(long)
    }
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})
