import { parseUntrustedJson } from '../../kernel/json'
import { base64Runs } from '../../text'
import { walkJson } from './walk-json'

/** How often a decoded text is decoded again, and how many forms of one text are kept. */
const MOST_ROUNDS = 3
const MOST_FORMS = 8

/** Null for JSON without escapes and exponents too: it reads the same before decoding. */
function fromJson(text: string): string | null {
  if (!/^\s*[[{"]/.test(text) || !/\\|\de[+-]?\d/i.test(text)) return null
  try {
    const parts: string[] = []
    const add = (part: string | number) => parts.push(String(part))
    walkJson(parseUntrustedJson(Buffer.from(text), { large: 'text' }), { name: add, leaf: add })
    return parts.join('\n')
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
        (_, braced, four, two, sign) => sign ?? characterOf(Number.parseInt(braced ?? four ?? two, 16)),
      )
    : null

const fromReferences = (text: string): string | null =>
  text.includes('&')
    ? text
        .replace(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));?/gi, (_, hex, digits) =>
          characterOf(hex ? Number.parseInt(hex, 16) : Number(digits)),
        )
        .replace(/&(commat|period|colon|sol|hyphen|lowbar|plus);/g, (_, name: string) => SIGNS[name]!)
    : null

/** The named references that stand in addresses and numbers. */
const SIGNS: Readonly<Record<string, string>> = {
  commat: '@',
  period: '.',
  colon: ':',
  sol: '/',
  hyphen: '-',
  lowbar: '_',
  plus: '+',
}

const characterOf = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd')

/** Control characters and broken UTF-8 show that the decoded bytes were no text. */
const NO_TEXT = /\ufffd|(?!\s)\p{Cc}/u

function fromBase64(text: string): string | null {
  const runs = base64Runs(text)
  const texts: string[] = []
  for (let index = 0; index < runs.length; index += 2) {
    const decoded = Buffer.from(text.slice(runs[index], runs[index + 1]).replace(/\s/g, ''), 'base64').toString('utf8')
    if (!NO_TEXT.test(decoded)) texts.push(decoded)
  }
  return texts.length ? texts.join('\n') : null
}

const DECODERS: readonly ((text: string) => string | null)[] = [
  fromJson,
  fromPercents,
  fromEscapes,
  fromReferences,
  fromBase64,
]

/**
 * What a program may read when it decodes a text: JSON in a string, percent-encoding, JavaScript escapes, HTML
 * character references and base64, also nested. Without the text itself; empty for most texts.
 */
export function decodedForms(text: string): readonly string[] {
  const forms = new Set<string>([text])
  let last: readonly string[] = [text]
  for (let round = 0; round < MOST_ROUNDS && last.length && forms.size <= MOST_FORMS; round++) {
    last = last
      .flatMap((form) => DECODERS.map((decode) => decode(form)))
      .filter((form) => form !== null && form.trim() !== '' && !forms.has(form)) as string[]
    for (const form of last) forms.add(form)
  }
  return [...forms].slice(1, MOST_FORMS + 1)
}
