import { describe, expect, test } from 'bun:test'
import { NotLinear } from '../../src/text/patterns/ecma'
import { compileLinear } from '../../src/text/patterns/linear'

const FLAGS = ['', 'i', 'u', 'iu', 's']
const LINES = ['', 'm', 'im', 'sm', 'imu', 'iu']
const BOUNDS = { maxChars: 1_000, maxSize: 2_000 }

const BLANKS = '\t\n\v\f\r\0\x1f\x7f\x85 \u00a0\u00ad\u1680\u180e\u2000\u200a\u200b\u2028\u2029\u202f\u205f\u3000\ufeff'
const LETTERS = 'aAsS\u017fkK\u212aiI\u0130\u0131_-5٣\\/'
const FOREIGN = 'ß\u1e9eåÅ\u212bσςΣµμΜω\u2126θ\u03f4жЖÿŸǆǅǄᾳᾼﬁ漢😀\u{10400}\u{10428}\ufdd0'
/** Characters that engines treat differently. */
const SIGNS = [...BLANKS, ...LETTERS, ...FOREIGN, '\r\n', '\n\r', '\n\n', '👩‍💻', '\ufdd1\n', '\ud83d', '\udfff']
const TEXTS = [
  ...SIGNS.flatMap((sign) => [sign, `secret${sign}plan`, `${sign}x${sign}${sign}y`]),
  '',
  'plain',
  'SECRET PLAN',
  'first\nsecond\r\nthird\u2028fourth\u2029',
  'a\rb\nc',
  '\n',
  '\r\n\r\n',
  'u{1F600} p{L}',
  'kelvin \u212aelvin KELVIN',
  'ſecret SECRET',
  'o\u200bk',
  'x{2}',
  'cat\ncatalog',
  '[ok](fine) {1,2} a-b ^$|?*+.',
]

/** Pattern and flags. With a third entry `u` the expected result is that with `u`: it matches whole characters. */
const PATTERNS: [string, string?, 'u'?][] = [
  ...both([
    'secret\\s+plan',
    'secret\\S*plan',
    '\\s',
    '\\S+',
    '[\\s]',
    '[^\\s]+',
    '[\\S]',
    '[^\\S]',
    '[\\s\\S]x',
    '\\s{2,}',
  ]),
  ...both(['.', '.+', 'a.', '^.$', '^.+$', 'x.y', '[.]', '(?:.|\\n)x', 'x.*y']),
  ...both([
    '^a',
    'a$',
    '^$',
    '^\\w+$',
    '\\w+$',
    '^two|plan$',
    '^',
    '$',
    '^[^a]+$',
    '[^\\n]+$',
    '[^\\r]$',
    '\\r?\\n^x',
    '^\\s+',
  ]),
  ...both([
    '\\r$',
    '\\n',
    '^\\r\\n',
    '$\\n',
    '\\n^',
    'x$[^]y',
    '[\\n]',
    '[\\u2028]x',
    '^[\\s]x',
    '^\\S',
    '^.x',
    '[^x]+$',
  ]),
  ...both(['\\w', '\\W', '\\w+', '\\W+', '[\\w]', '[^\\w]', '[\\W]', '[\\w-]+', '\\d', '\\D', '[\\d.]+', '[^\\d]']),
  ...both(['\\bsecret\\b', '\\bplan', '\\B.', 's\\b', '\\bk', 'k\\b', '\\b\\w', '\\Belvin']),
  ...both([
    's',
    'k',
    'S',
    'K',
    '[a-z]+',
    '[A-Z]+',
    '[^a-z]',
    '[^k]',
    '[r-t]',
    'ſ',
    '\\u212a',
    'i',
    'I',
    'ı',
    'İ',
    '[ıi]',
  ]),
  ...both([
    'ß',
    '\\u1e9e',
    'å',
    'Å',
    'σ',
    'ς',
    '[Α-Ω]',
    'µ',
    'Μ',
    'ω',
    '\\u2126',
    'θ',
    'ϴ',
    '[а-я]',
    'Ж',
    'ÿ',
    'ǆ',
    'ǅ',
    'ᾳ',
    'ﬁ',
  ]),
  ...both(['[^ß]', '[^Σ]', '[à-ÿ]+', '[\\u00df-\\u0130]']),
  ...both([
    '\\x41',
    '\\u0041',
    '\\cJ',
    '\\0',
    '\\t|\\v|\\f',
    '\\u2028',
    '\\xa0',
    '\\ufeff',
    '\\/',
    '\\\\',
    '[\\b]',
    '[\\cJ]',
  ]),
  ...both(
    ['\\ud83d\\ude00', '[\\ud83d\\ude00]', '😀', '[😀漢]', '👩‍💻', '\\ud83d\\ude00{1}', '[\\u{1F600}-\\u{1F64F}]'],
    'u',
  ),
  ...both(
    ['\\p{L}+', '\\P{L}', '[\\p{Lu}]', '[^\\p{N}\\s]+', '\\p{Script=Greek}', '\\p{Letter}', '\\u{1F600}', '[\\p{Ll}_]'],
    'u',
  ),
  ...both('[] [^] (?:)x (s)(e) (?<word>plan) a| (?:s|k)+ x{2} a{1,3}? x*?y [-a] [a-] [^-]'.split(' ')),
  ...sloppy([
    '\\-',
    '\\e',
    'x{',
    '{',
    '}',
    ']',
    'a{,2}',
    '\\c',
    '\\u{2}',
    '\\8',
    '\\12',
    '[\\12]',
    '\\x4',
    '\\uzz',
    '[\\w-z]',
    '\\k',
    '[\\c]',
  ]),
  ['(?i:s)K', ''],
  ['(?i:secret) plan', ''],
  ['(?-i:s)ecret', 'i'],
  ['(?s:.)x.', ''],
  ['a(?m:$)', ''],
  ['(?m:^)x.$', ''],
  ['[[a-z]--[k]]', 'v'],
]

function both(sources: string[], as?: 'u'): [string, string?, 'u'?][] {
  return sources.flatMap((source) =>
    (/[$^](?!\])/.test(source) ? LINES : FLAGS).flatMap((given): [string, string?, 'u'?][] =>
      isOne(source, given) ? [[source, given, as]] : [],
    ),
  )
}

function sloppy(sources: string[]): [string, string?][] {
  return sources.flatMap((source) => ['', 'i', 'm'].map((flags): [string, string] => [source, flags]))
}

function isOne(source: string, flags: string): boolean {
  try {
    new RegExp(source, flags)
    return true
  } catch {
    return false
  }
}

/** Where the runtime's own engine matches, without empty matches, which RE2's `find` leaves out, too. */
function expected(all: RegExp, text: string): string[] {
  const places: string[] = []
  for (const { index, 0: found } of text.matchAll(all)) {
    if (found) places.push(`${index}-${index + found.length}`)
  }
  return places
}

describe('a pattern on RE2 means what it means in ECMAScript', () => {
  const isOfHalves = (text: string) => /[\ud800-\udfff]/.test(text)

  test('in every text, at the same places', () => {
    const differing: string[] = []
    let compared = 0
    for (const [source, flags = '', as = ''] of PATTERNS) {
      const meant = /[uv]/.test(flags) ? flags : flags + as
      const pattern = attempt(source, flags)
      if (!pattern) continue
      const [is, all] = [new RegExp(source, meant), new RegExp(source, `${meant}g`)]
      for (const text of TEXTS) {
        // Without `u` ECMAScript matches halves of surrogate pairs; RE2 never does.
        if (!/[uv]/.test(meant) && isOfHalves(text)) continue
        compared++
        const found = [...pattern.find(text)].map(({ start, end }) => `${start}-${end}`)
        const wanted = expected(all, text)
        const says = pattern.test(text)
        const isSame = says === is.test(text) && found.join() === wanted.join()
        if (!isSame) differing.push(`/${source}/${flags} in ${JSON.stringify(text)}: ${says} ${found}, not ${wanted}`)
      }
    }
    expect(differing).toEqual([])
    expect(compared).toBeGreaterThan(100_000)
  })
})

const attempt = (source: string, flags: string) => {
  try {
    return compileLinear(source, { ...BOUNDS, flags })
  } catch (error) {
    if (error instanceof NotLinear) return null
    throw error
  }
}
