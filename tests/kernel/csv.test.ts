import { describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { csvFile, csvHeaders, csvLine, csvLines } from '../../src/kernel/csv'

const read = (text: string): string[][] => parse(text, { record_delimiter: '\r\n' })

describe('csv', () => {
  test('is RFC 4180: CRLF after every record, quotes only where they are needed', () => {
    expect(
      csvLines([
        ['a', 'b'],
        ['x,y', 'say "hi"'],
        [1.5, null],
        [true, 'two\nlines'],
      ]),
    ).toBe('a,b\r\n"x,y","say ""hi"""\r\n1.5,\r\ntrue,"two\nlines"\r\n')
  })

  test('is empty without records', () => {
    expect(csvLines([])).toBe('')
  })

  test.each([
    ["=cmd|'/C calc'!A0"],
    ['+1+cmd'],
    ['-1+2'],
    ['@SUM(A1)'],
    ['\t=1+1'],
    ['\r=1+1'],
    ['\n=1+1'],
    ['  =1+1'],
    ['\u00a0=1+1'],
    ['＝1+1'],
    ['－1+1'],
    ['=HYPERLINK("http://127.0.0.1/?"&A1,"x")'],
    ['-a'],
  ])('%j cannot start a formula', (text) => {
    expect(read(csvLines([[text, 'next']]))).toEqual([[`'${text}`, 'next']])
  })

  test.each([
    ['+47 22 84 50 00'],
    ['+49 (0)30 901820-0'],
    ['+1 (555) 010-0199'],
    ['+1-555-010-0199'],
    ['+44\u00a020 7946 0958'],
    ['+33.1.23.45.67.89'],
    ['+4722845000'],
  ])('a phone number stays as it is: %s', (text) => {
    expect(read(csvLines([[text]]))).toEqual([[text]])
  })

  test.each([
    ['+47 22 84 50 00*cmd'],
    ['+47=22845000'],
    ['+A1 22 84 50'],
    ['+1+5550100199'],
    ['+47 22 84 50 00;=1'],
    ['-47-22-84'],
    ['-$A$1'],
    ['+47 22 84\n=1+1'],
  ])('%j only looks like one', (text) => {
    expect(read(csvLines([[text, 'next']]))).toEqual([[`'${text}`, 'next']])
  })

  test.each([['-3,50'], ['-1,250.00'], ['-$12.00'], ['-12.00 €'], ['+5 %'], ["-1'000.50"], ['-1 234,5'], ['- 4']])(
    'a number with its unit stays as it is: %s',
    (text) => {
      expect(read(csvLines([[text]]))).toEqual([[text]])
    },
  )

  test.each([['-'], ['--'], ['+'], ['-1'], ['+1'], ['-0.000001'], ['a=b'], ['1-2'], ["'quoted"], ['']])(
    '%j is left alone',
    (text) => {
      expect(read(csvLines([[text, 'next']]))).toEqual([[text, 'next']])
    },
  )

  test('numbers below zero stay numbers', () => {
    expect(csvLine([-5, -0.25, 1e21])).toBe('-5,-0.25,1e+21')
  })

  test('a parser reads back any text as it was, except for the mark before a formula', () => {
    const cell = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"', ',', '\r', '\n', '\r\n', '"",\r\n"'))
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 5 }), (records) => {
        const back = read(csvLines(records))
        expect(back.map((cells, row) => cells.map((text, at) => unmarked(text, records[row]![at]!)))).toEqual(records)
      }),
      { numRuns: 50 },
    )
  }, 30_000)

  const unmarked = (text: string, wanted: string) => (text === `'${wanted}` ? wanted : text)

  test('a file is streamed: its header, then page by page', async () => {
    async function* pages() {
      yield [[1, 'a']]
      yield []
      yield [[2, 'b']]
    }
    expect(await Array.fromAsync(csvFile(['id', 'name'], pages()))).toEqual(['\ufeffid,name\r\n', '1,a\r\n', '2,b\r\n'])
  })

  test('a CSV answer is a download', () => {
    expect(csvHeaders('usage')).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="usage.csv"',
      'x-content-type-options': 'nosniff',
    })
  })
})
