import { sha256Hex } from '../../kernel/crypto'
import { parsedJson } from '../../kernel/json'
import { counted } from '../../kernel/text'
import type { Skill } from './question'
import { capital } from './words'

/** `asked`: patterns of the instruction, in this order on one line. */
type Transform = { instruction: RegExp | readonly RegExp[]; apply(text: string): string | null }
const parts = (text: string): string[] =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g) ?? []
const overItems = (change: (items: string[]) => string[]) => (text: string) => {
  const separator = text.includes('\n') ? '\n' : ', '
  const items = text.split(text.includes('\n') ? '\n' : ',')
  return items.length < 2 ? null : change(items.map((item) => item.trim())).join(separator)
}

const reverseWords = (text: string): string => text.split(/\s+/).reverse().join(' ')
const decodeBase64 = (text: string): string => Buffer.from(text.trim(), 'base64').toString('utf8')

const COUNT = /\b(?:count|how many|number of)\b/

/** Words that limit an instruction or add a second one, which a single transformation would ignore. */
const LIMITED =
  /\b(?:by|only|first|last|second|except|without|with|start\w*|end(?:s|ing)|contain\w*|then|not|don['’]t|never|and)\b|\bletters? ['"]?[b-z]\b/

/** Transformations of a supplied text; the first whose pattern matches is applied. */
const TRANSFORMS: Transform[] = [
  { instruction: /\bupper[- ]?case\b|\ball caps\b|\bcapital letters\b/, apply: (text) => text.toUpperCase() },
  { instruction: /\blower[- ]?case\b/, apply: (text) => text.toLowerCase() },
  {
    instruction: /\btitle[- ]?case\b|\bcapitali[sz]e\b/,
    apply: (text) => text.replace(/\p{L}[\p{L}'’]*/gu, capital),
  },
  { instruction: /\bsnake[_ -]?case\b/, apply: (text) => parts(text).join('_') },
  { instruction: /\bkebab[- ]?case\b|\bslug\b|\bslugify\b/, apply: (text) => parts(text).join('-') },
  { instruction: /\bpascal[- ]?case\b/, apply: (text) => parts(text).map(capital).join('') },
  {
    instruction: /\bcamel[- ]?case\b/,
    apply: (text) =>
      parts(text)
        .map((part, at) => (at ? capital(part) : part))
        .join(''),
  },
  {
    instruction: [/\breverse\b/, /\bwords\b/],
    apply: reverseWords,
  },
  { instruction: [/\bwords\b/, /\breversed? order\b/], apply: reverseWords },
  {
    instruction: [/\bsort\b/, /\b(?:descending|reverse)\b/],
    apply: overItems((items) => items.sort(inOrder).reverse()),
  },
  { instruction: /\bsort\b|\balphabeti/, apply: overItems((items) => items.sort(inOrder)) },
  { instruction: [/\breverse\b/, /\b(?:list|items|lines|order)\b/], apply: overItems((items) => items.reverse()) },
  { instruction: /\breverse\b|\bbackwards?\b/, apply: (text) => [...text].reverse().join('') },
  {
    instruction: /\b(?:dedupe|deduplicate|unique|remove duplicates?)\b/,
    apply: overItems((items) => [...new Set(items)]),
  },
  {
    instruction: [COUNT, /\bwords?\b/],
    apply: (text) => `${counted((text.match(/[\p{L}\p{N}'’-]+/gu) ?? []).length, 'word')}.`,
  },
  {
    instruction: [COUNT, /\b(?:characters?|letters?)\b/],
    apply: (text) =>
      `${counted([...text].length, 'character')}, ${counted([...text].filter((char) => /\p{L}/u.test(char)).length, 'letter')}.`,
  },
  {
    instruction: [COUNT, /\blines?\b/],
    apply: (text) => `${counted(text.split('\n').length, 'line')}.`,
  },
  { instruction: [/\bbase64\b/, /\bdecode\b/], apply: decodeBase64 },
  { instruction: [/\bdecode\b/, /\bbase64\b/], apply: decodeBase64 },
  { instruction: /\bbase64\b/, apply: (text) => Buffer.from(text).toString('base64') },
  { instruction: /\burl[- ]?encode\b|\bpercent[- ]?encode\b/, apply: (text) => encodeURIComponent(text) },
  { instruction: /\bsha-?256\b/, apply: (text) => sha256Hex(text) },
  { instruction: /\brot-?13\b/, apply: (text) => text.replace(/[a-z]/gi, rot13) },
  { instruction: [/\b(?:pretty[- ]?print|format|indent)\b/, /\bjson\b/], apply: (text) => reformat(text, 2) },
  { instruction: [/\bmini(?:fy|mi[sz]e)\b/, /\bjson\b/], apply: (text) => reformat(text, 0) },
]

/** `Reverse "abc"`, `Uppercase: hello`, `Sort these lines: …`, `How many words are in "…"?` */
export const transforms: Skill = ({ task, material }) => {
  const instruction = task.toLowerCase()
  const bare = material ? null : bareWord(task)
  const text = material || bare
  if (!text) return null
  const lines = (
    bare ? instruction.slice(0, instruction.lastIndexOf(bare.toLowerCase())).replace(NAMED, '') : instruction
  ).split(LINE_END)
  if (lines.some((line) => LIMITED.test(line))) return null
  const found = TRANSFORMS.find(({ instruction: request }) => lines.some((line) => holds(line, [request].flat())))
  return found ? found.apply(text) : null
}

/** Whether a line contains the patterns in order. Checks only the first match of each, because `a.*b` is quadratic. */
function holds(line: string, [first, ...rest]: readonly RegExp[]): boolean {
  const found = first?.exec(line)
  return found ? rest.length === 0 || holds(line.slice(found.index + found[0].length), rest) : false
}

/** What announces the text. */
const NAMED = /\bthe\s(?:word|string|text|phrase)\s$/

/** Ends of lines, which `.` does not match. */
const LINE_END = /[\n\r\u2028\u2029]/

/** `Reverse the word stressed`: the text after "the word" or "the string", up to the end, which needs no quotes. */
function bareWord(task: string): string | null {
  const text = task.replace(/(?<![?.!])[?.!]+$/, '')
  const lastLine = text.length - text.split(LINE_END).at(-1)!.length
  const ends = [...text.matchAll(/\bthe\s+(?:word|string|text|phrase)\s+/gi)].map(
    ({ 0: { length }, index }) => index + length,
  )
  const from = ends.find((end) => end >= lastLine)
  return from === undefined ? null : text.slice(from) || null
}

const inOrder = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true, sensitivity: 'base' })

function rot13(letter: string): string {
  const base = letter <= 'Z' ? 65 : 97
  return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base)
}

function reformat(text: string, indent: number): string | null {
  const value = parsedJson(text)
  return value === undefined ? null : JSON.stringify(value, null, indent)
}
