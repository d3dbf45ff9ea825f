import { describe, expect, test } from 'bun:test'
import { decodeText, isText } from '../../src/research/web/pages'
import { type Item, joinPages, layOut } from '../../src/research/web/pdf-layout'
import { unwrapped } from '../../src/text'

describe('lines of a text', () => {
  test.each([
    ['wrapped lines', 'The work took\nseven months\r\nin all.', 'The work took seven months in all.'],
    ['an address', 'Mill Ltd\n12 Mill Road\nBrodholm', 'Mill Ltd\n12 Mill Road\nBrodholm'],
    [
      'a script without spaces',
      '東京タワーは電波塔であり、\n高さは三百三十三メートルである。',
      '東京タワーは電波塔であり、高さは三百三十三メートルである。',
    ],
    [
      'a record by moments',
      '2026-03-04 08:00:00 INFO the server starts and listens now\n2026-03-04 08:00:01 WARN a slow answer of the database',
      '2026-03-04 08:00:00 INFO the server starts and listens now\n2026-03-04 08:00:01 WARN a slow answer of the database',
    ],
    [
      'labels',
      'From: Ada Brun of the mill at the river <ada@example.com>\nSubject: The price of the flour that we bought',
      'From: Ada Brun of the mill at the river <ada@example.com>\nSubject: The price of the flour that we bought',
    ],
    ['words cut in two', 'An old baro-\nmeter of the hut.', 'An old barometer of the hut.'],
    ['a hyphen before a word that is whole', 'The pre-\nand post-war years.', 'The pre- and post-war years.'],
    ['lists', 'To buy:\n- milk and bread\n- tea', 'To buy:\n- milk and bread\n- tea'],
    ['paragraphs', 'One is here.\n\nTwo is there.', 'One is here.\n\nTwo is there.'],
    ['rows', 'Town,Founded,Note\nOld Harbour,1688,big', 'Town,Founded,Note\nOld Harbour,1688,big'],
  ])('%s', (_, text, expected) => expect(unwrapped(text)).toBe(expected))

  test('a long text takes time in proportion', () => {
    expect(unwrapped('words that go on and on to the end\n'.repeat(20_000)).split('\n')).toHaveLength(2)
  })
})

describe('letters of a text that names no charset', () => {
  const latin = Buffer.from('Ein Glas kostet 9 \x80 in M\xf6lln', 'latin1')
  test.each([
    ['Windows-1252', latin, 'text/html', 'Ein Glas kostet 9 € in Mölln'],
    ['UTF-8', Buffer.from('Mölln 9 €'), 'text/plain', 'Mölln 9 €'],
    [
      'UTF-8 with one broken byte',
      Buffer.concat([Buffer.from('äöüßé€ñ'), Buffer.from([0xff])]),
      'text/plain',
      'äöüßé€ñ\ufffd',
    ],
    ['a charset nobody knows', latin, 'text/html; charset=x-none', 'Ein Glas kostet 9 € in Mölln'],
    [
      'a name behind much else',
      Buffer.from(`<!-- ${'x'.repeat(1_500)} --><meta charset="windows-1251">\xcc\xee`, 'latin1'),
      'text/html',
      'Мо',
    ],
    ['UTF-16 without a mark', Buffer.from('Straße;Möhren', 'utf16le'), '', 'Straße;Möhren'],
    ['UTF-16 of the other order', Buffer.from('Straße;Möhren', 'utf16le').swap16(), 'text/csv', 'Straße;Möhren'],
    ['a Macintosh', Buffer.from('K\x9aln;Stra\xa7e;Caf\x8e f\x9fr', 'latin1'), 'text/csv', 'Köln;Straße;Café für'],
    ['an XML declaration', Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?>\xfc', 'latin1'), 'text/xml', 'ü'],
  ])('%s', (_, bytes, type, expected) => expect(decodeText(bytes, type)).toEndWith(expected))

  test('what holds control characters is no text', () => {
    expect(isText(latin)).toBe(true)
    expect(isText(Buffer.from('a\0b'))).toBe(false)
    expect(isText(Buffer.from('PK\x03\x04'))).toBe(false)
  })

  test.each([
    ['UTF-16 without a mark', Buffer.from('Straße', 'utf16le')],
    ['the mark at the end of texts of DOS', Buffer.from('Rye;12\r\n\x1a')],
    ['the signs of a log', Buffer.from('\x1b[31mfailed\x1b[0m\x07 50 %\b\b\b')],
  ])('what holds %s is text', (_, bytes) => {
    expect(isText(bytes)).toBe(true)
  })
})

describe('a page of a PDF', () => {
  const put = (str: string, x: number, y: number): Item => ({
    str,
    dir: 'ltr',
    width: str.length * 5,
    height: 10,
    transform: [10, 0, 0, 10, x, y],
  })
  const rows = (columns: string[][], left: number[]) =>
    columns[0]!.flatMap((_, row) => columns.map((lines, at) => put(lines[row]!, left[at]!, 700 - row * 12)))

  test('is read column by column, in two and in three, below a heading across them', () => {
    const column = (name: string) => [
      `The ${name} column begins here and`,
      'goes on in its second line until',
      `it has come to the ${name} end.`,
    ]
    const textOf = (name: string) =>
      `The ${name} column begins here and goes on in its second line until it has come to the ${name} end.`
    const head = put('A heading that stands across all of the columns of this very page, from side to side', 40, 730)
    for (const names of [
      ['left', 'right'],
      ['first', 'second', 'third'],
    ]) {
      const text = layOut([head, ...rows(names.map(column), [40, 240, 440])])
      expect(text).toBe([head.str, ...names.map(textOf)].join('\n\n'))
    }
  })

  test('is read column by column where the second begins higher', () => {
    const left = ['The left column begins here and', 'goes on in its second line until', 'it has come to its end.']
    const right = ['A right column begins higher and', 'goes on beside the left one until', 'its last words are read.']
    const items = [
      ...left.map((line, row) => put(line, 40, 700 - row * 12)),
      ...right.map((line, row) => put(line, 260, 712 - row * 12)),
    ]
    expect(layOut(items)).toBe([left.join(' '), right.join(' ')].join('\n\n'))
  })

  test('is read column by column where these are close to each other, if they are long', () => {
    const left = Array.from({ length: 6 }, (_, row) => `The left line ${row} has the same length as the others`)
    const right = left.map((line) => line.replace('left', 'next'))
    const close = (count: number) =>
      layOut(rows([left.slice(0, count), right.slice(0, count)], [40, 47 + left[0]!.length * 5]))
    expect(close(6)).toBe([left, right].map((lines) => lines.join(' ')).join('\n\n'))
    expect(close(2)).toStartWith(`${left[0]} ${right[0]}`)
  })

  test('has powers and indices in their line, and letters as they are written', () => {
    const small = (str: string, x: number, y: number): Item => ({ ...put(str, x, y), height: 7, width: 8 })
    const line = [put('It holds 10', 40, 700), small('23', 95, 704), put('parts of H', 110, 700), small('2', 160, 697)]
    expect(layOut([...line, put('O.', 168, 700)])).toBe('It holds 10^23 parts of H2O.')
    expect(layOut([put('ofﬁce ﺑﻨﻴﺖ', 40, 700)])).toBe('office بنيت')
  })

  test('from right to left has its numbers and punctuation where they are spoken', () => {
    const rtl = (str: string, x: number): Item => ({ ...put(str, x, 700), dir: 'rtl' })
    const line = [put('.1791', 40, 700), rtl('הטחנה נבנתה בשנת ', 65), put(', ', 150, 700), rtl('שלום עולם', 160)]
    expect(layOut(line)).toBe('שלום עולם, הטחנה נבנתה בשנת 1791.')
  })

  test('has bold letters once, that a program draws twice', () => {
    const twice = ['The ferry leaves at nine.', 'It is full.'].map((line, at) => put(line, 40, 700 - at * 12))
    expect(layOut([...twice, { ...twice[0]!, transform: [10, 0, 0, 10, 40.4, 700] }])).toBe(
      'The ferry leaves at nine. It is full.',
    )
    const letter = (str: string, x: number): Item => ({ ...put(str, x, 700), width: str.length * 5 })
    expect(layOut([letter('F', 40), letter('Fe', 40.4), letter('er', 45.4), letter('r', 50.4)])).toBe('Fer')
  })

  test('goes on in the next one, below and above what stands on every page (docling#1625)', () => {
    const pages = [
      'Yearbook of Oldby\n\nThe roof was paid by the guild, while the owner\n\nPage 1 of 3',
      'Yearbook of Oldby\n\nof the mill gave the beams.\n\nTotal: 120\n\nPage 2 of 3',
      'Yearbook of Oldby\n\nIt holds 640 sacks.\n\nTotal: 340\n\nPage 3 of 3',
    ]
    expect(joinPages(pages)).toBe(
      'The roof was paid by the guild, while the owner of the mill gave the beams.\n\nTotal: 120\n\nIt holds 640 sacks.\n\nTotal: 340\n\nYearbook of Oldby',
    )
    expect(joinPages(['One.', 'Two'])).toBe('One.\n\nTwo')
  })

  test('keeps the rows of a table, whose cells no sentence joins', () => {
    const table = rows(
      [
        ['Town', 'Harbour', 'Mill'],
        ['Founded', '1688', '1403'],
      ],
      [40, 240],
    )
    expect(layOut(table)).toBe('Town | Founded\n\nHarbour | 1688\n\nMill | 1403')
  })
})

describe('a text that names no charset and is not UTF-8 is read', () => {
  test.each([
    ['Shift-JIS', 'guiC8YKyg1eDhYFbg1iCzTEyjMI=', 'りんごジュースは12個'],
    ['EUC-JP', 'xey1/qTOv+XCsrTbpM8yMDI2x6+ky7OrtNukt6TepLekvw==', '東京の水族館は2026年に開館しました'],
    ['GBK', 'svrGtyzK/cG/Csa7ufssMTIKz+O9tiwzMA==', '产品,数量\n苹果,12\n香蕉,30'],
    ['Big5', 'u0+lX6q6pPSx2sBdpmIyMDI2pn62fcBdLKr5sry7+a7m', '臺北的水族館在2026年開館,門票價格'],
    ['EUC-KR', 'wabHsCy89reuCrvnsPosMTIKudmzqrOqLDMw', '제품,수량\n사과,12\n바나나,30'],
    ['Windows-1251', '0u7i4PAs1uXt4Arf4evu6ugsMTI=', 'Товар,Цена\nЯблоки,12'],
    ['KOI8-R', '7dXaxcogz9TL0tnUIMvB1sTZyiDExc7Y', 'Музей открыт каждый день'],
    ['Greek', '1O8g7O/18+Xf7yDl3+3h6SDh7e/p9/T8', 'Το μουσείο είναι ανοιχτό'],
    ['Hebrew', '5O7l5ung5e8g9Prl5yDr7CDp5e0g7vr58g==', 'המוזיאון פתוח כל יום מתשע'],
    ['Arabic', 'x+Hjys3dIOPdyubNIN/hIO3m4yDj5CDH4dPH2sk=', 'المتحف مفتوح كل يوم من الساعة'],
    ['Thai', 'vtS+1LjA0bOx7OC71LS32KHH0bk=', 'พิพิธภัณฑ์เปิดทุกวัน'],
    ['Polish', 'WmG/87PmIGfqnGy5IGphn/EsILPzZJ8=', 'Zażółć gęślą jaźń, łódź'],
    ['Czech', 'UPjtbGmaIJ5sdZ1vdehr/SBr+fI=', 'Příliš žluťoučký kůň'],
  ])('as %s', (_, base64, text) => expect(decodeText(Buffer.from(base64, 'base64'), 'text/csv')).toBe(text))

  test.each([
    ['German', '3GJlcmdy9t9lbiB1bmQgc/zfZSDEcGZlbA==', 'Übergrößen und süße Äpfel'],
    ['German capitals', '3EJFUkdS1lNTRSDEUkdFUiDWRkZOVU5H', 'ÜBERGRÖSSE ÄRGER ÖFFNUNG'],
    ['French', 'UHLpbm9tO8l06TtSZW7pZTvg', 'Prénom;Été;Renée;à'],
    ['Portuguese', 'TuNvIGjhIGHn428gc2VtIHJlYefjbw==', 'Não há ação sem reação'],
    ['Finnish', 'SOTkefZhaWUsIG3k5HLk5G3kdHT2beRu', 'Hääyöaie, määräämättömän'],
    ['Danish', 'UvhkZ3L4ZCBw5SDGcvg=', 'Rødgrød på Ærø'],
    ['Icelandic', '3mV0dGEgZXIg7XNsZW5za2E=', 'Þetta er íslenska'],
    ['quotes', 'k0hlbGxvlCCXIGl0knMgNSCAIIU=', '“Hello” — it’s 5 € …'],
    ['signs', 'sCCxILIgsyC8IKenIKureLu7', '° ± ² ³ ¼ §§ ««x»»'],
  ])('as Windows-1252 where its letters stand alone: %s', (_, base64, text) =>
    expect(decodeText(Buffer.from(base64, 'base64'), 'text/csv')).toBe(text),
  )
})
