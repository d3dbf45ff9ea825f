import { likeliest } from './detect'
import { isLanguageCode, nameOf } from './foreign'
import { mainScript, type Script } from './scripts'

/** Fewer letters of an alphabet that many languages share do not tell which one it is. */
const LEAST_LETTERS = 24
const MOST_CHARS = 2_000

/** Scripts that one language has for itself, or nearly so. */
const ALONE: Partial<Record<Script, string>> = {
  Hani: 'zh',
  Jpan: 'ja',
  Kore: 'ko',
  Grek: 'el',
  Hebr: 'he',
  Thai: 'th',
}
const USUAL: Partial<Record<Script, string>> = { Cyrl: 'ru', Arab: 'ar', Deva: 'hi' }

/** The language that a text is most likely in (ISO 639-1), by its beginning; null when it is too short to tell. */
export function languageOf(text: string): string | null {
  const sample = text.slice(0, MOST_CHARS)
  const { script, letters } = mainScript(sample)
  const alone = ALONE[script]
  if (alone) return alone
  return (letters >= LEAST_LETTERS ? likeliest(sample) : null) ?? USUAL[script] ?? null
}

let codes: ReadonlyMap<string, string> | undefined

/** The code (ISO 639-1) of a language that is given by a code, a tag such as `de-AT` or its English name; else null. */
export function languageCodeOf(word: string): string | null {
  codes ??= new Map(everyCode().map((code) => [nameOf(code)!.toLowerCase(), code]))
  const given = word.trim().toLowerCase()
  const code = given.split(/[-_]/)[0]!
  return isLanguageCode(code) ? code : (codes.get(given) ?? null)
}

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz']
const everyCode = (): string[] => LETTERS.flatMap((one) => LETTERS.map((two) => one + two)).filter(isLanguageCode)
