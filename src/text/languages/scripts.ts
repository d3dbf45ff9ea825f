/** ISO 15924. Text with kana is `Jpan`, with Hangul `Kore`; `Hani` is Han alone. */
export type Script = 'Latn' | 'Cyrl' | 'Arab' | 'Deva' | 'Hani' | 'Jpan' | 'Kore' | 'Grek' | 'Hebr' | 'Thai' | 'other'

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

/** By UTF-16 unit: the place in SCRIPTS plus one, a mark below, or 0 before the unit was looked up. */
const KINDS = new Uint8Array(1 << 16)
const NO_LETTER = 0xff
const OTHER = 0xfe

function kindOf(code: number): number {
  const char = String.fromCodePoint(code)
  if (!(char >= 'A' && (char <= 'z' || char > '\u007f')) || !LETTER.test(char)) return NO_LETTER
  const place = SCRIPTS.findIndex(([, letters]) => letters.test(char))
  return place < 0 ? OTHER : place + 1
}

/** `kindOf`, remembered: the expressions are slow. */
function kindAt(code: number): number {
  if (code > 0xffff) return kindOf(code)
  KINDS[code] ||= kindOf(code)
  return KINDS[code]!
}

export type Count = { script: Script; letters: number; all: number }

/** The script of most letters. Han letters with kana among them are Japanese. */
export function mainScript(text: string): Count {
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

const isScript = (code: string): code is Script => SCRIPTS.some(([script]) => script === code)

/** The scripts that a language (ISO 639-1) is written in; some languages use two. */
export function scriptsOf(language: string): readonly Script[] {
  if (['sr', 'uz', 'az', 'kk', 'bs'].includes(language)) return ['Latn', 'Cyrl']
  if (language === 'ja') return ['Jpan', 'Hani']
  if (language === 'ko') return ['Kore', 'Hani']
  // `Hans` and `Hant` are both Han.
  const code = new Intl.Locale(language).maximize().script?.replace(/^Han[st]$/, 'Hani') ?? ''
  return [isScript(code) ? code : 'other']
}
