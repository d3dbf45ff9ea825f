import { fitOf, isKnown, type Wanted, wantedOf } from './detect'
import { type Count, mainScript, type Script, scriptsOf } from './scripts'

/** The first sentences are enough to tell a language. */
const MOST_CHARS = 180
const MOST_READ = 1_200
/** Code, URLs, mail addresses and identifiers, which belong to no language. Only whole runs, or long ones cost squares. */
const NO_LANGUAGE =
  /```[\s\S]*?(?:```|$)|`[^`\n]{1,200}`|https?:\S{1,500}|[\w.+-]{1,64}@[\w.-]{1,253}|(?<![^\s\d_/\\{}<>=[\]()$#@])[^\s\d_/\\{}<>=[\]()$#@]*[\d_/\\{}<>=[\]()$#@][^\s]*/g

/** Fewer letters of a script that is not allowed may be a quotation, a name or a symbol. */
const LEAST_OF_SCRIPT = 6
const LEAST_LATIN = 24
const LEAST_LETTERS = 24
/** How well the best allowed language must fit, by the number of letters. */
const LEAST_FIT: readonly { letters: number; fit: number }[] = [
  { letters: 120, fit: 0.86 },
  { letters: 60, fit: 0.78 },
  { letters: LEAST_LETTERS, fit: 0.66 },
]

/** Function words that are frequent in one language and rare in its neighbours. */
const TELLING: Readonly<Record<string, RegExp>> = {
  en: /(?<![\p{L}'])(?:the|and|of|is|that|with|this|which|was|are|you|it)(?![\p{L}'])/giu,
  de: /(?<!\p{L})(?:der|das|und|nicht|ist|ein|eine|mit|für|ich|auf|zu|den|wir)(?!\p{L})/giu,
  fr: /(?<!\p{L})(?:les|des|est|une|dans|pour|vous|je|pas|qui|sur|avec|nous)(?!\p{L})/giu,
}
/** One function word in so many letters settles the language without the tables. */
const LETTERS_A_WORD = 28
const LEAST_TELLING = 4

/** Loaded with the first policy that needs it. */
let names: Intl.DisplayNames | undefined
export const nameOf = (code: string): string | undefined => {
  names ??= new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })
  return names.of(code)
}

/** Whether a code is that of a language (ISO 639-1), such as `en`. */
export const isLanguageCode = (code: string): boolean => /^[a-z]{2}$/.test(code) && nameOf(code) !== undefined

/** Tells whether a text is in none of these languages (ISO 639-1); false for code and texts too short to tell. */
export function foreignTo(allowed: readonly string[]): (text: string) => boolean {
  const byScript = new Map<Script, Written>()
  const writtenIn = (script: Script) => {
    const codes = allowed.filter((code) => scriptsOf(code).includes(script))
    return { codes, wanted: codes.every(isKnown) ? wantedOf(codes) : null }
  }
  return (text) => {
    const sample = sampleOf(text)
    const count = mainScript(sample)
    return isForeign(sample, count, byScript.getOrInsertComputed(count.script, writtenIn))
  }
}

/** The allowed languages that use a script; `wanted` is null unless the tables know all of them. */
type Written = { codes: readonly string[]; wanted: Wanted | null }

function isForeign(sample: string, { script, letters, all }: Count, { codes, wanted }: Written): boolean {
  if (letters < all * 0.6) return false
  if (!codes.length) return letters >= (script === 'Latn' ? LEAST_LATIN : LEAST_OF_SCRIPT)
  const isSharedScript = script === 'Latn' || script === 'Cyrl' || script === 'Arab' || script === 'Deva'
  if (!isSharedScript || letters < LEAST_LETTERS || !wanted) return false
  if (codes.some((code) => isPlainly(code, sample, letters))) return false
  return fitOf(sample, wanted) < LEAST_FIT.find((one) => letters >= one.letters)!.fit
}

function isPlainly(code: string, sample: string, letters: number): boolean {
  const count = TELLING[code] ? (sample.match(TELLING[code])?.length ?? 0) : 0
  return count >= LEAST_TELLING && count * LETTERS_A_WORD >= letters
}

/** The beginning of a text without code and the like; reads no more of the text than it needs. */
function sampleOf(text: string): string {
  const read = text.slice(0, MOST_READ)
  let sample = ''
  let done = 0
  NO_LANGUAGE.lastIndex = 0
  for (;;) {
    const match = NO_LANGUAGE.exec(read)
    sample = `${sample} ${read.slice(done, match?.index)}`
    if (sample.length > 2 * MOST_CHARS) sample = sample.replace(/\s+/g, ' ')
    if (!match || sample.length > 2 * MOST_CHARS) break
    done = NO_LANGUAGE.lastIndex
  }
  return sample.replace(/\s+/g, ' ').trim().slice(0, MOST_CHARS)
}
