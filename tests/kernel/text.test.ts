import { describe, expect, test } from 'bun:test'
import { quoted } from '../../src/kernel/errors'
import { beginningOf, clean, createPairKeeper, Pieces, scrub, shorten, slugOf, storable } from '../../src/kernel/text'

describe('shorten', () => {
  test.each([
    ['short', 10, 'short'],
    ['exactly ten', 11, 'exactly ten'],
    ['one too many', 11, 'one too ma…'],
    ['', 3, ''],
  ])('%p to %i characters is %p', (text, max, expected) => {
    expect(shorten(text, max)).toBe(expected)
  })

  test('never leaves half of an emoji', () => {
    expect(shorten('ab😀cd', 4)).toBe('ab…')
    expect(shorten('ab😀cd', 5)).toBe('ab😀…')
  })
})

describe('the beginning of a text', () => {
  test.each([
    ['a family', 'ab👨‍👩‍👧‍👦cd', 'ab'],
    ['a tone of skin', 'abcdefg👍🏽hi', 'abcdefg'],
    ['a flag', '🇳🇴🇩🇪🇫🇷', '🇳🇴🇩🇪'],
    ['an accent of its own', 'abcdefghie\u0301k', 'abcdefghi'],
    ['a line end of two characters', 'abcdefghi\r\nk', 'abcdefghi'],
    ['a keycap', 'abcdefgh1\ufe0f\u20e3', 'abcdefgh'],
    ['Devanagari', 'नमस्ते दुनि', 'नमस्ते दु'],
    ['a Hangul syllable in letters', 'abcdefgh\u1112\u1161\u11ab', 'abcdefgh'],
    ['what has no end', `abc${'\u0301'.repeat(50)}`, 'ab'],
    ['letters that are whole', '港口港口港口港口港口港', '港口港口港口港口港口'],
  ])('splits no character: %s', (_, text, wanted) => {
    expect(beginningOf(text, 10)).toBe(wanted)
  })

  test('is a beginning, well-formed, and as long as it can be', () => {
    const text = 'a👨‍👩‍👧‍👦é🇳🇴🇩🇪 नमस्ते 港口\r\n1️⃣😀'.repeat(9)
    const marks = [...new Intl.Segmenter('und').segment(text)].map(({ index }) => index)
    for (let max = 1; max < text.length; max++) {
      const wanted = text.slice(
        0,
        marks.findLast((mark) => mark <= max),
      )
      expect({ max, cut: beginningOf(text, max) }).toEqual({ max, cut: wanted })
    }
  })
})

test.each([
  ['Acme', 'acme'],
  ['Ünited Äpples, Inc.', 'united-apples-inc'],
  ['  a -- b  ', 'a-b'],
  ['日本', ''],
  ['<script>', 'script'],
  ['x'.repeat(200), 'x'.repeat(48)],
  [`${'x'.repeat(47)} y`, 'x'.repeat(47)],
  ['Straße Łódź Ærø', 'strasse-lodz-aero'],
  ['Đà Nẵng İzmir ışık', 'da-nang-izmir-isik'],
])('%j has the slug %j', (name, slug) => expect(slugOf(name, 48)).toBe(slug))

test.each([
  ['\u001b[31mred\u001b[0m', 'red'],
  ['a\u0007b', 'a·b'],
  ['a\u202eb', 'a·b'],
  ['keeps\ttabs\nand lines', 'keeps\ttabs\nand lines'],
  ['carriage\rreturn', 'carriage·return'],
  ['žluťoučký 漢字 😀', 'žluťoučký 漢字 😀'],
])('clean: %j becomes %j', (text, expected) => {
  expect(clean(text)).toBe(expected)
})

describe('text that can be stored', () => {
  test.each([
    ['plain 😀', 'plain 😀'],
    ['a\0b', 'ab'],
    ['a\ud83d', 'a\ufffd'],
    ['\ude00a', '\ufffda'],
  ])('%j is %j', (text, expected) => {
    expect(storable(text)).toBe(expected)
  })

  test.each([
    [
      ['a\ud83d', '\ude00b'],
      ['a', '😀b', ''],
    ],
    [
      ['\ud83d', '', '\ude00'],
      ['', '', '😀', ''],
    ],
    [
      ['\ud83d', 'x'],
      ['', '\ufffdx', ''],
    ],
    [['x\ud83d'], ['x', '\ufffd']],
    [
      ['\0', 'x'],
      ['', 'x', ''],
    ],
  ])('the pieces %j become %j', (pieces, expected) => {
    const pairs = createPairKeeper()
    expect([...pieces.map(pairs.add), pairs.end()]).toEqual(expected)
  })
})

test.each([
  ['key svc_sk_live_abcdefgh12345 here', 'key svc_sk_live_… here'],
  ['code svc_gc_abcdefgh12345678', 'code svc_gc_…'],
  ['Bearer sk-proj-abcdefgh', 'Bearer …'],
  ['https://user:secret@example.com/a', 'https://…@example.com/a'],
  ['a@b.example // c', 'a@b.example // c'],
])('scrub: %j becomes %j', (text, expected) => {
  expect(scrub(text)).toBe(expected)
})

describe('quoted', () => {
  test('repeats no secret, and counts the entries of a large list', () => {
    expect(quoted('https://user:secret@10.0.0.1/')).toBe('https://…@10.0.0.1/')
    expect(quoted({ key: 'svc_sk_live_abcdefgh12345' })).toBe('{"key":"svc_sk_live_…"}')
    expect(quoted(Array.from({ length: 100_000 }, () => ({})))).toBe('a list of 100000 entries')
  })

  test.each([
    ['plain', 'plain'],
    [5, '5'],
    [null, 'null'],
    [undefined, 'undefined'],
    [['a', 1], '["a",1]'],
    ['line\nbreak\u200b', 'line·break·'],
    ['x'.repeat(100), `${'x'.repeat(79)}…`],
  ])('%j is shown as %j', (value, expected) => {
    expect(quoted(value)).toBe(expected)
  })
})

test('a text in pieces is the whole of them, and its older pieces are joined', () => {
  const kept = new Pieces()
  const pieces = Array.from({ length: 500 }, (_, at) => `${at % 7 ? ' word' : '😀'}${at}`)
  expect(kept.text).toBe('')
  for (const piece of pieces) kept.add(piece)
  expect(kept.text).toBe(pieces.join(''))
  const { joined, recent } = kept as unknown as { joined: string; recent: string }
  expect(recent.length).toBeLessThan(300)
  expect(joined.length).toBeGreaterThan(recent.length)
})
