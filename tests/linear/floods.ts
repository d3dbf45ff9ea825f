import { timed } from './timed'

/** Characters of each text: enough for time that is not linear to stand out a hundredfold. */
const CHARS = 40_000

/** What a flood repeats: one character of each kind, and beginnings that a pattern could take up again and again. */
const REPEATED = [
  ...' \n\t0aA.,:;!?-_*#`~"“\'’(<[{&|/\\@=+%$éж漢\u0301😀',
  ...[
    '{"a":',
    '${',
    '{{',
    '![',
    '[a](',
    '<a ',
    '<!--',
    '/*',
    '```',
    '"""',
    '**a_',
    '| a ',
    'a b. ',
    'A, ',
    'a: ',
    '1. ',
  ],
  ...[
    '\n\n> ',
    '\n- a',
    ' and ',
    'the word ',
    'count ',
    'http://',
    'a@',
    'a.',
    '0.',
    '0,',
    'ignore all ',
    '[ Q1',
    '"a", ',
  ],
  ...['password=', 'select ', '\\u0041', '&#65;', '%41', 'aGk=', '= ', '.\n', ' \n'],
]
const ENDS = ['', ' x']

/** Texts of 40,000 characters with little in them, each behind a beginning such as `a chart of`. */
export function* floods(beginning = '', chars = CHARS): Generator<{ name: string; text: string }> {
  for (const repeated of REPEATED) {
    const body = repeated.repeat(Math.ceil(chars / repeated.length))
    for (const end of ENDS)
      yield { name: JSON.stringify(`${beginning}${repeated}…${end}`), text: beginning + body + end }
  }
}

const PROSE =
  'The quick brown fox, who is 12 years old, jumps over 3 lazy dogs; see https://example.com/a?b=c for more.\n'
const WORD = /[\p{L}\p{N}]+/gu

/** Milliseconds that this machine takes, now, to find and fold the words of a text as long as the floods. */
export function linearPass(chars = CHARS): number {
  const text = PROSE.repeat(Math.ceil(chars / PROSE.length))
  const once = () => timed(() => [...text.matchAll(WORD)].map(([word]) => word.toLowerCase()))
  return Math.min(once(), once(), once())
}
