import type * as Franc from 'franc'

/** ISO 15924. Text with kana is `Jpan`, with Hangul `Kore`; `Hani` is Han alone. */
type Script = 'Latn' | 'Cyrl' | 'Arab' | 'Deva' | 'Hani' | 'Jpan' | 'Kore' | 'Grek' | 'Hebr' | 'Thai' | 'other'

const SCRIPTS: readonly (readonly [Script, RegExp])[] = [
  ['Latn', /\p{Script=Latin}/u],
  ['Cyrl', /\p{Script=Cyrillic}/u],
  ['Hani', /\p{Script=Han}/u],
  ['Jpan', /[\p{Script=Hiragana}\p{Script=Katakana}]/u],
  ['Kore', /\p{Script=Hangul}/u],
  ['Arab', /\p{Script=Arabic}/u],
  ['Deva', /\p{Script=Devanagari}/u],
  ['Grek', /\p{Script=Greek}/u],
  ['Hebr', /\p{Script=Hebrew}/u],
  ['Thai', /\p{Script=Thai}/u],
]

const LETTER = /\p{L}/u

/** By UTF-16 unit: the index in SCRIPTS plus one, a value below, or 0 before the first lookup. */
const KINDS = new Uint8Array(1 << 16)

const NO_LETTER = 0xff

const OTHER = 0xfe

type Count = { script: Script; letters: number; all: number }

const isScript = (code: string): code is Script => SCRIPTS.some(([script]) => script === code)

/** ISO 639-1 codes and the detector's own codes. Other languages are recognised by their script only. */
const CODES = new Map(
  `en:eng es:spa pt:por id:ind fr:fra de:deu vi:vie it:ita tr:tur pl:pol ro:ron nl:nld hr:hrv sr:srp bs:bos hu:hun
   cs:ces sv:swe da:dan nn:nno nb:nob no:nob fi:fin ca:cat sk:slk sl:slv lt:lit lv:lvs et:ekk sq:als is:isl eu:eus
   gl:glg cy:cym af:afr tl:tgl sw:swh zu:zul ru:rus uk:ukr be:bel bg:bul mk:mkd kk:kaz ar:arb fa:pes ur:urd hi:hin
   mr:mar ne:npi`
    .split(/\s+/)
    .map((word) => [word.slice(0, 2), word.slice(3)] as const),
)

/** Languages that cannot be distinguished in a sentence or two. */
const ALIKE: readonly (readonly string[])[] = [
  ['nob', 'nno', 'dan'],
  ['hrv', 'srp', 'bos'],
  ['spa', 'glg'],
  ['por', 'glg'],
  ['nld', 'afr'],
  ['ces', 'slk'],
  ['hin', 'mar', 'npi'],
]

const KNOWN = [...new Set(CODES.values())]

const isKnown = (language: string): boolean => CODES.has(language)

/** Language codes of the detector. */
type Wanted = ReadonlySet<string>

/** The first sentences are enough to detect a language. */
const FOREIGN_MOST_CHARS = 180

const MAX_READ = 1_200

/**
 * Code, URLs, mail addresses and identifiers, which belong to no language. Matches whole runs only, because long runs
 * would otherwise take quadratic time.
 */
const NO_LANGUAGE =
  /```[\s\S]*?(?:```|$)|`[^`\n]{1,200}`|https?:\S{1,500}|[\w.+-]{1,64}@[\w.-]{1,253}|(?<![^\s\d_/\\{}<>=[\]()$#@])[^\s\d_/\\{}<>=[\]()$#@]*[\d_/\\{}<>=[\]()$#@][^\s]*/g

/** Fewer letters of a disallowed script may be a quotation, a name or a symbol. */
const MIN_OF_SCRIPT = 6

const MIN_LATIN = 24

const FOREIGN_LEAST_LETTERS = 24

/** Minimum fit of the best allowed language, by the number of letters. */
const MIN_FIT: readonly { letters: number; fit: number }[] = [
  { letters: 120, fit: 0.86 },
  { letters: 60, fit: 0.78 },
  { letters: FOREIGN_LEAST_LETTERS, fit: 0.66 },
]

/** Function words that are frequent in one language and rare in its neighbours. */
const TELLING: Readonly<Record<string, RegExp>> = {
  en: /(?<![\p{L}'])(?:the|and|of|is|that|with|this|which|was|are|you|it)(?![\p{L}'])/giu,
  de: /(?<!\p{L})(?:der|das|und|nicht|ist|ein|eine|mit|für|ich|auf|zu|den|wir)(?!\p{L})/giu,
  fr: /(?<!\p{L})(?:les|des|est|une|dans|pour|vous|je|pas|qui|sur|avec|nous)(?!\p{L})/giu,
}

/** One function word per this number of letters determines the language without the tables. */
const LETTERS_A_WORD = 28

const MIN_TELLING = 4

/** Loaded with the first policy that needs it. */
let names: Intl.DisplayNames | undefined

const nameOf = (code: string): string | undefined => {
  names ??= new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })
  return names.of(code)
}

/** Whether a code is that of a language (ISO 639-1), such as `en`. */
export const isLanguageCode = (code: string): boolean => /^[a-z]{2}$/.test(code) && nameOf(code) !== undefined

/** The allowed languages that use a script. `wanted` is null unless the tables know all of them. */
type Written = { codes: readonly string[]; wanted: Wanted | null }

/** Fewer letters of an alphabet shared by many languages do not determine the language. */
const MIN_LETTERS = 24
const MAX_CHARS = 2_000

/** Scripts used by a single language, or nearly so. */
const ALONE: Partial<Record<Script, string>> = {
  Hani: 'zh',
  Jpan: 'ja',
  Kore: 'ko',
  Grek: 'el',
  Hebr: 'he',
  Thai: 'th',
}
const USUAL: Partial<Record<Script, string>> = { Cyrl: 'ru', Arab: 'ar', Deva: 'hi' }

/** The most probable language of a text (ISO 639-1), judged by its start. Null when the text is too short. */
export function languageOf(text: string): string | null {
  const sample = text.slice(0, MAX_CHARS)
  const { script, letters } = mainScript(sample)
  const alone = ALONE[script]
  if (alone) return alone
  return (letters >= MIN_LETTERS ? likeliest(sample) : null) ?? USUAL[script] ?? null
}

let codes: ReadonlyMap<string, string> | undefined

/** The code (ISO 639-1) of a language given by a code, a tag such as `de-AT` or its English name. Null otherwise. */
export function languageCodeOf(word: string): string | null {
  codes ??= new Map(
    LETTERS.flatMap((one) => LETTERS.map((two) => one + two))
      .filter(isLanguageCode)
      .map((code) => [nameOf(code)!.toLowerCase(), code]),
  )
  const normalized = word.trim().toLowerCase()
  const code = normalized.split(/[-_]/)[0]!
  return isLanguageCode(code) ? code : (codes.get(normalized) ?? null)
}

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz']

/** Whether a text is in none of these languages (ISO 639-1). False for code and texts that are too short. */
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

function isForeign(sample: string, { script, letters, all }: Count, { codes, wanted }: Written): boolean {
  if (letters < all * 0.6) return false
  if (!codes.length) return letters >= (script === 'Latn' ? MIN_LATIN : MIN_OF_SCRIPT)
  const isSharedScript = script === 'Latn' || script === 'Cyrl' || script === 'Arab' || script === 'Deva'
  if (!isSharedScript || letters < FOREIGN_LEAST_LETTERS || !wanted) return false
  if (
    codes.some((code) => {
      const count = TELLING[code] ? (sample.match(TELLING[code])?.length ?? 0) : 0
      return count >= MIN_TELLING && count * LETTERS_A_WORD >= letters
    })
  )
    return false
  // How well a text fits the best of the wanted languages by its trigrams: 1 when no known language fits better, lower
  // the better others fit, and 0 if the detector knows none of them in the text's script.
  const { francAll } = require('franc') as typeof Franc
  const fit = francAll(sample, { only: KNOWN }).find(([language]) => wanted.has(language))?.[1] ?? 0
  return fit < MIN_FIT.find((one) => letters >= one.letters)!.fit
}

/** The start of a text without code and similar parts. Reads only as much of the text as needed. */
function sampleOf(text: string): string {
  const read = text.slice(0, MAX_READ)
  let sample = ''
  let done = 0
  NO_LANGUAGE.lastIndex = 0
  for (;;) {
    const match = NO_LANGUAGE.exec(read)
    sample = `${sample} ${read.slice(done, match?.index)}`
    if (sample.length > 2 * FOREIGN_MOST_CHARS) sample = sample.replace(/\s+/g, ' ')
    if (!match || sample.length > 2 * FOREIGN_MOST_CHARS) break
    done = NO_LANGUAGE.lastIndex
  }
  return sample.replace(/\s+/g, ' ').trim().slice(0, FOREIGN_MOST_CHARS)
}

/** Languages (ISO 639-1, all known), and those that cannot be distinguished from one of them. */
function wantedOf(languages: readonly string[]): Wanted {
  const codes = new Set(languages.map((language) => CODES.get(language)!))
  for (const alike of ALIKE) if (alike.some((code) => codes.has(code))) for (const code of alike) codes.add(code)
  return codes
}

/** The language (ISO 639-1) that fits a text best by its trigrams, or null. */
function likeliest(text: string): string | null {
  const { franc } = require('franc') as typeof Franc
  const code = franc(text, { only: KNOWN })
  return CODES.entries().find(([, known]) => known === code)?.[0] ?? null
}

function kindOf(code: number): number {
  const char = String.fromCodePoint(code)
  if (!(char >= 'A' && (char <= 'z' || char > '\u007f')) || !LETTER.test(char)) return NO_LETTER
  const place = SCRIPTS.findIndex(([, letters]) => letters.test(char))
  return place < 0 ? OTHER : place + 1
}

/** `kindOf` with a cache, because the regular expressions are slow. */
function kindAt(code: number): number {
  if (code > 0xffff) return kindOf(code)
  KINDS[code] ||= kindOf(code)
  return KINDS[code]!
}

/** The script of most letters. Han letters mixed with kana are Japanese. */
function mainScript(text: string): Count {
  const counts = new Map<Script, number>()
  let all = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at)!
    if (code > 0xffff) at++
    const kind = kindAt(code)
    if (kind === NO_LETTER) continue
    const script = kind === OTHER ? 'other' : SCRIPTS[kind - 1]![0]
    counts.set(script, (counts.get(script) ?? 0) + 1)
    all++
  }
  const kana = counts.get('Jpan') ?? 0
  const han = counts.get('Hani') ?? 0
  if (kana * 12 >= han && kana > 0) {
    counts.set('Jpan', kana + han)
    counts.delete('Hani')
  }
  const [script, letters] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? ['other', 0]
  return { script, letters, all }
}

/** The scripts of a language (ISO 639-1). Some languages use two. */
function scriptsOf(language: string): readonly Script[] {
  if (['sr', 'uz', 'az', 'kk', 'bs'].includes(language)) return ['Latn', 'Cyrl']
  if (language === 'ja') return ['Jpan', 'Hani']
  if (language === 'ko') return ['Kore', 'Hani']
  // `Hans` and `Hant` are both Han.
  const code = new Intl.Locale(language).maximize().script?.replace(/^Han[st]$/, 'Hani') ?? ''
  return [isScript(code) ? code : 'other']
}
