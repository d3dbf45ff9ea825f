/** ISO 15924. Japanese and Korean go by the script only they have; `Hani` is Han alone. */
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

export type Count = { script: Script; letters: number; all: number }

/** The script most letters are of; kana among Han letters make Japanese of them. */
export function mainScript(text: string): Count {
  const counts = new Map<Script, number>()
  let all = 0
  for (const char of text) {
    if (!(char >= 'A' && (char <= 'z' || char > '\u007f')) || !LETTER.test(char)) continue
    const script = char <= 'z' ? 'Latn' : (SCRIPTS.find(([, letters]) => letters.test(char))?.[0] ?? 'other')
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

const NAMED: Record<string, Script> = {
  ...{ Hans: 'Hani', Hant: 'Hani', Hani: 'Hani', Latn: 'Latn', Cyrl: 'Cyrl', Arab: 'Arab', Deva: 'Deva' },
  ...{ Jpan: 'Jpan', Kore: 'Kore', Grek: 'Grek', Hebr: 'Hebr', Thai: 'Thai' },
}

/** The scripts a language is written in; several have two. */
export function scriptsOf(language: string): readonly Script[] {
  if (['sr', 'uz', 'az', 'kk', 'bs'].includes(language)) return ['Latn', 'Cyrl']
  if (language === 'ja') return ['Jpan', 'Hani']
  if (language === 'ko') return ['Kore', 'Hani']
  return [NAMED[new Intl.Locale(language).maximize().script ?? ''] ?? 'other']
}
