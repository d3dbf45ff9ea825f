import { base64Runs } from '../kernel/injection/base64'
import { parseUntrustedJson } from '../kernel/json'
import { visit } from './visit'

/** A reading of a reading, and so on; and as many of one text together. */
const MOST_TURNS = 3
const MOST_FORMS = 8

/** Without escapes and numbers with exponents, what stands in JSON can be read as it stands. */
function fromJson(text: string): string | null {
  if (!/^\s*[[{"]/.test(text) || !/\\|\de[+-]?\d/i.test(text)) return null
  try {
    const said: string[] = []
    const say = (part: string | number) => said.push(String(part))
    visit(parseUntrustedJson(Buffer.from(text)), { name: say, leaf: say })
    return said.join('\n')
  } catch {
    return null
  }
}

const fromPercents = (text: string): string | null =>
  text.includes('%')
    ? text.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'))
    : null

const fromEscapes = (text: string): string | null =>
  text.includes('\\')
    ? text.replace(
        /\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2})|([/"'\\]))/gi,
        (_, braced, four, two, sign) => sign ?? letter(Number.parseInt(braced ?? four ?? two, 16)),
      )
    : null

const fromReferences = (text: string): string | null =>
  text.includes('&')
    ? text
        .replace(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));?/gi, (_, hex, digits) =>
          letter(hex ? Number.parseInt(hex, 16) : Number(digits)),
        )
        .replace(/&(commat|period|colon|sol|hyphen|lowbar|plus);/g, (_, name: string) => SIGNS[name]!)
    : null

const SIGNS: Readonly<Record<string, string>> = {
  ...{ commat: '@', period: '.', colon: ':', sol: '/', hyphen: '-', lowbar: '_', plus: '+' },
}

const letter = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd')

/** What nobody typed shows that it was no text before. */
const NOT_TYPED = /\ufffd|(?!\s)\p{Cc}/u

function fromBase64(text: string): string | null {
  const runs = base64Runs(text)
  const said: string[] = []
  for (let place = 0; place < runs.length; place += 2) {
    const decoded = Buffer.from(text.slice(runs[place], runs[place + 1]).replace(/\s/g, ''), 'base64').toString('utf8')
    if (!NOT_TYPED.test(decoded)) said.push(decoded)
  }
  return said.length ? said.join('\n') : null
}

const READERS: readonly ((text: string) => string | null)[] = [
  ...[fromJson, fromPercents, fromEscapes, fromReferences, fromBase64],
]

/**
 * What a text says to a program that decodes it: JSON in a string, percent signs, escapes of JavaScript, character
 * references of HTML and base64, also one within the other. Without the text itself; empty for most.
 */
export function decodedForms(text: string): readonly string[] {
  const forms = new Set<string>([text])
  let last: readonly string[] = [text]
  for (let turn = 0; turn < MOST_TURNS && last.length && forms.size <= MOST_FORMS; turn++) {
    last = last
      .flatMap((form) => READERS.map((read) => read(form)))
      .filter((form) => form !== null && form.trim() !== '' && !forms.has(form)) as string[]
    for (const form of last) forms.add(form)
  }
  return [...forms].slice(1, MOST_FORMS + 1)
}
