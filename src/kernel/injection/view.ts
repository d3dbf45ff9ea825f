import { toLatin } from './confusables'

/** A text made readable, and for each of its UTF-16 units where in the original it stood. */
export type View = { text: string; at: Int32Array }

/** What shows nothing, or only changes how the letter before it is drawn. */
const isUnseen = (code: number): boolean =>
  code === 0xad ||
  code === 0x34f ||
  code === 0x61c ||
  code === 0x180e ||
  (code >= 0x200b && code <= 0x200f) ||
  (code >= 0x202a && code <= 0x202e) ||
  (code >= 0x2060 && code <= 0x206f) ||
  (code >= 0xfe00 && code <= 0xfe0f) ||
  code === 0xfeff ||
  (code >= 0x300 && code <= 0x36f) ||
  (code >= 0xe0000 && code <= 0xe01ef)

const QUOTES: Readonly<Record<string, string>> = {
  ...{ '“': '"', '”': '"', '„': '"', '«': '"', '»': '"', '「': '"', '」': '"', '‹': '"', '›': '"' },
  ...{ '‘': "'", '’': "'", '‚': "'", '´': "'" },
}

const known = new Map<string, string>()
const MOST_KNOWN = 20_000

/** One character as a reader takes it: compatibility forms resolved, accents off, small. */
function plainOf(char: string): string {
  const hit = known.get(char)
  if (hit !== undefined) return hit
  const quote = QUOTES[char]
  const plain =
    quote ??
    char
      .normalize('NFKD')
      .replace(/[\u0300-\u036f]/g, '')
      .normalize('NFC')
      .toLowerCase()
  if (known.size < MOST_KNOWN) known.set(char, plain)
  return plain
}

const SIMPLE = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/

/** Reads a text once: unseen characters gone, runs of white space one blank, letters plain and small. Linear. */
export function readable(source: string): View {
  if (SIMPLE.test(source)) return { text: source.toLowerCase(), at: Int32Array.from(source, (_, place) => place) }
  const writer = createWriter(source.length)
  let blank = true
  for (let place = 0; place < source.length; ) {
    const code = source.codePointAt(place)!
    if (!isUnseen(code)) {
      const isBlank = code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0x2028 || code === 0x2029
      if (isBlank) {
        if (!blank) writer.put(32, place)
      } else if (code < 0x80) writer.put(code >= 65 && code <= 90 ? code + 32 : code, place)
      else for (const unit of plainOf(String.fromCodePoint(code)).split('')) writer.put(unit.charCodeAt(0), place)
      blank = isBlank
    }
    place += code > 0xffff ? 2 : 1
  }
  return writer.end()
}

/** Room for units and their places; compatibility forms can be longer than what they stand for. */
function createWriter(expected: number) {
  let units = new Uint16Array(expected + 64)
  let at = new Int32Array(expected + 64)
  let length = 0
  return {
    put(unit: number, place: number): void {
      if (length === units.length) {
        const [more, places] = [new Uint16Array(length * 2), new Int32Array(length * 2)]
        more.set(units)
        places.set(at)
        units = more
        at = places
      }
      units[length] = unit
      at[length++] = place
    },
    end: (): View => ({ text: utf16.decode(units.subarray(0, length)), at: at.slice(0, length) }),
  }
}

const utf16 = new TextDecoder('utf-16le')

/** The same text with letters of other scripts read as the Latin ones they look like; null when there are none. */
export function latinized({ text, at }: View): View | null {
  let changed = false
  let out = ''
  for (const unit of text) {
    const latin = unit.length === 1 ? toLatin(unit) : undefined
    changed ||= latin !== undefined
    out += latin ?? unit
  }
  return changed && out.length === text.length ? { text: out, at } : null
}

const LEET: Readonly<Record<string, string>> = {
  ...{ '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b', '9': 'g' },
  ...{ '@': 'a', $: 's', '!': 'i', '|': 'i', '+': 't', '€': 'e', '£': 'l' },
}
const LEET_WORD = /[a-z0-9@$!|+€£]*(?:[a-z][013457 89@$|+€£]|[013457 89@$!|+€£][a-z])[a-z0-9@$!|+€£]*/g

/** The same with digits and signs inside words read as letters: `1gn0r3` is `ignore`; null when nothing is. */
export function unleeted({ text, at }: View): View | null {
  if (!/[0134579@$!|]/.test(text)) return null
  const out = text.replace(LEET_WORD, (word) => word.replace(/[0-9@$!|+€£]/g, (sign) => LEET[sign] ?? sign))
  return out === text ? null : { text: out, at }
}

/** What a text in rot13 has somewhere when there is anything to find: its word for rules, prompts or secrets. */
const ROTATED =
  /cebzcg|vafgehpgvba|ehyr|thvqryvar|qverpgvir|thneqenvy|erfgevpgvba|cnffjbeq|perqragvny|xrlf|frperg|pbafgenvag|svygre/

/** The same with every letter thirteen places on; null where that cannot be words of interest. */
export const rotated = ({ text, at }: View): View | null =>
  ROTATED.test(text)
    ? { text: text.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 84) % 26) + 97)), at }
    : null

/** Letters only, as they stand one after the other. */
export function squeezed({ text, at }: View): View {
  const writer = createWriter(text.length)
  for (let place = 0; place < text.length; place++) {
    const code = text.charCodeAt(place)
    if (code >= 97 && code <= 122) writer.put(code, at[place]!)
  }
  return writer.end()
}
