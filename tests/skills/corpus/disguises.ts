/** The ways in which attackers write what should not be read. */
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const hex = (text: string): string => Buffer.from(text).toString('hex')
const percent = (text: string): string =>
  [...text].map((char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')
const backwards = (text: string): string => [...text].reverse().join('')
const spaced = (text: string): string => [...text.replaceAll(' ', '  ')].join(' ')
const zeroWidth = (text: string): string => text.replace(/(\w)(\w)/g, '$1\u200b$2')
const tags = (text: string): string =>
  [...text].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join('')
const lettered = (text: string): string => [...text].map((char) => String(char.charCodeAt(0))).join(' ')

const rot13 = (text: string): string =>
  text.replace(/[a-z]/gi, (char) => {
    const base = char <= 'Z' ? 65 : 97
    return String.fromCharCode(((char.charCodeAt(0) - base + 13) % 26) + base)
  })

const LEET: Record<string, string> = { a: '4', e: '3', i: '1', o: '0', s: '5', t: '7' }
const leet = (text: string): string => text.replace(/[aeiost]/g, (char) => LEET[char]!)

const GLYPHS: Record<string, string> = { a: 'а', e: 'е', o: 'о', p: 'р', c: 'с', i: 'і' }
const homoglyphs = (text: string): string => text.replace(/[aeopci]/g, (char) => GLYPHS[char]!)

const WAYS = { base64, hex, percent, backwards, spaced, zeroWidth, tags, lettered, rot13, leet, homoglyphs }
const DISGUISED = new RegExp(`\\{(${Object.keys(WAYS).join('|')}):([^{}]*)\\}`, 'g')

/** A line of a corpus: `{hex:text}` is the text in that disguise, `\n` and `\u0001` are the characters. */
export function textOf(line: string): string {
  const text = line
    .replaceAll('\\n', '\n')
    .replace(/\\u([0-9a-f]{4})/g, (_, code) => String.fromCharCode(parseInt(code, 16)))
  const disguise = (part: string): string => {
    const next = part.replace(DISGUISED, (_, way: keyof typeof WAYS, inner: string) => WAYS[way](inner))
    return next === part ? part : disguise(next)
  }
  return disguise(text)
}
