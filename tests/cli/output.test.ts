import { describe, expect, test } from 'bun:test'
import { column, idColumn } from '../../cli/command'
import { createPrinter, type Format } from '../../cli/output/print'
import { spellTime } from '../../cli/output/time'
import { fakeIo } from '../support/io'

const NOW = Date.parse('2026-01-01T00:00:00.000Z')
const TABLE = { format: 'table', fields: null, headers: true, quiet: false, time: 'iso', now: NOW } as const

const columns = [
  column('name', 'NAME'),
  column('spent', 'SPENT', { kind: 'money' }),
  column('seen', 'SEEN', { kind: 'time' }),
  column('scopes', 'SCOPES', { kind: 'list' }),
  column('id', 'ID', { wide: true }),
]
const rows = [
  { id: 'a1', name: 'Dev laptop', spent: 12.5, seen: '2025-12-31T23:57:00.000Z', scopes: ['tools', 'skills'] },
  { id: 'b2', name: 'ci, "main"', spent: 0, seen: null, scopes: [] },
]

function printed(
  format: Format,
  { width = null, fields = null }: { width?: number | null; fields?: string[] | null } = {},
) {
  const io = fakeIo({ width })
  const print = createPrinter(io, { format, fields, headers: true, quiet: false, time: 'relative', now: NOW })
  print.list(rows, columns, 'No rows.')
  return io.stdout()
}

describe('a list', () => {
  test('is a table of two-space columns with numbers to the right', () => {
    expect(printed('table')).toBe(
      [
        'NAME        SPENT  SEEN       SCOPES',
        'Dev laptop  12.50  3 min ago  tools,skills',
        'ci, "main"   0.00  -          -',
        '',
      ].join('\n'),
    )
  })

  test('gains columns in wide', () => {
    expect(printed('wide').split('\n')[1]).toBe('Dev laptop  12.50  3 min ago  tools,skills  a1')
  })

  test('is cut with an ellipsis on a terminal only', () => {
    expect(printed('table', { width: 36 }).split('\n')[1]).toBe('Dev lap…  12.50  3 min ago  tools,s…')
    expect(printed('table')).not.toContain('…')
  })

  test('keeps ids, numbers and times whole where it is narrow, and says what it leaves out', () => {
    const io = fakeIo({ width: 30 })
    const narrow = [
      idColumn,
      column('name', 'NAME'),
      column('about', 'ABOUT', { min: true }),
      column('ref', 'REF', { keep: true }),
    ]
    const print = createPrinter(io, TABLE)
    print.list([{ id: '748a3c1e', name: 'a rather long name', about: 'a word or two', ref: 'req_12345' }], narrow, '')
    expect(io.stdout()).toBe('ID        NAME       REF\n748a3c1e  a rather…  req_12345\n')
    expect(io.stderr()).toBe('no room for ABOUT; -o wide shows all columns\n')
  })

  test('that comes in batches has one header, and columns that stay in their places', () => {
    const io = fakeIo({ width: 40 })
    const show = createPrinter(io, TABLE).feed([column('name', 'NAME'), column('id', 'ID')])
    show([])
    show([{ name: 'a longer one', id: 'x1' }])
    show([{ name: 'short', id: 'x2' }])
    expect(io.stdout()).toBe('NAME          ID\na longer one  x1\nshort         x2\n')
  })

  test('in ASCII is measured as it is printed', () => {
    const io = fakeIo({ width: 18 })
    const style = { ...TABLE, ascii: true } as const
    const print = createPrinter(io, style)
    print.list([{ name: 'a rather long name', id: 'auto → fast' }], [column('name', 'NAME'), column('id', 'ID')], '')
    expect(io.stdout()).toBe('NAME      ID\na rat...  auto ...\n')
  })

  test('is an array in JSON, the objects as they came', () => {
    expect(JSON.parse(printed('json'))).toEqual(rows)
  })

  test('is one object a line in jsonl', () => {
    expect(
      printed('jsonl')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(rows)
  })

  test('is quoted where CSV needs it', () => {
    expect(printed('csv')).toBe(
      'name,spent,seen,scopes,id\nDev laptop,12.5,2025-12-31T23:57:00.000Z,tools skills,a1\n"ci, ""main""",0,,,b2\n',
    )
  })

  test('is one id a line', () => {
    expect(printed('id')).toBe('a1\nb2\n')
  })

  test('is YAML that reads back', () => {
    expect(Bun.YAML.parse(printed('yaml'))).toEqual(rows)
  })

  test('prints nothing for none', () => {
    expect(printed('none')).toBe('')
  })

  test('keeps to the fields asked for, in that order', () => {
    expect(printed('table', { fields: ['id', 'name'] }).split('\n')[1]).toBe('a1  Dev laptop')
    expect(JSON.parse(printed('json', { fields: ['id'] }))).toEqual([{ id: 'a1' }, { id: 'b2' }])
  })

  test('names the fields there are when one is unknown', () => {
    expect(() => printed('table', { fields: ['prize'] })).toThrow('There is no field "prize". Fields: name, spent')
  })

  test('says on stderr that it is empty', () => {
    const io = fakeIo()
    createPrinter(io, TABLE).list([], columns, 'No rows.')
    expect({ stdout: io.stdout(), stderr: io.stderr() }).toEqual({ stdout: '', stderr: 'No rows.\n' })
  })
})

const HOSTILE = '\u001b[2J\u001b]52;c;aGk=\u0007evil\r\u202e\u009b31m\u2028\nnext'

describe('text from strangers', () => {
  test.each(['table', 'wide', 'csv', 'yaml', 'id', 'json', 'jsonl'] as const)(
    'cannot steer a terminal in %s',
    (format) => {
      const io = fakeIo({ width: 200 })
      const style = { format, fields: null, headers: true, quiet: false, time: 'iso', now: NOW } as const
      const print = createPrinter(io, style)
      print.list([{ id: HOSTILE, name: HOSTILE, scopes: [HOSTILE], spent: 1, seen: HOSTILE }], columns, '')
      print.item({ id: HOSTILE, name: HOSTILE }, columns)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come out
      expect(io.stdout()).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/)
    },
  )

  test('keeps every character of the data in JSON', () => {
    const io = fakeIo()
    createPrinter(io, { format: 'json', fields: null, headers: true, quiet: false, time: 'iso', now: NOW }).item(
      { id: HOSTILE },
      columns,
    )
    expect(JSON.parse(io.stdout())).toEqual({ id: HOSTILE })
  })

  test('stays on its line in a table', () => {
    const io = fakeIo()
    createPrinter(io, { ...TABLE, headers: false }).list([{ name: 'a\nb\tc' }], columns, '')
    expect(io.stdout()).toBe('a b c  -  -  -\n')
  })
})

test.each([
  ['relative', '2025-12-31T22:00:00Z', '2 h ago'],
  ['relative', '2026-01-01T00:00:00Z', 'just now'],
  ['relative', '2026-01-03T00:00:00Z', 'in 2 d'],
  ['iso', '2025-12-31T22:00:00Z', '2025-12-31T22:00:00Z'],
  ['unix', '2026-01-01T00:00:00Z', '1767225600'],
  ['clock', '2025-12-25T12:00:00Z', '12-25'],
  ['relative', 'not a time', '-'],
] as const)('--time %s writes %s as "%s"', (time, iso, text) => {
  expect(spellTime(iso, { time, now: NOW })).toBe(text)
})
