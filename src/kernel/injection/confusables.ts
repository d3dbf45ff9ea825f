/** Letters of other scripts that pass for Latin ones at a glance, small. */
const LOOKS: Readonly<Record<string, string>> = {
  ...{ а: 'a', в: 'b', е: 'e', ё: 'e', к: 'k', м: 'm', н: 'h', о: 'o', р: 'p', с: 'c', т: 't', у: 'y', х: 'x' },
  ...{ і: 'i', ї: 'i', ј: 'j', ѕ: 's', ԁ: 'd', һ: 'h', ԛ: 'q', ԝ: 'w', ӏ: 'l', г: 'r', п: 'n', и: 'u', ь: 'b' },
  ...{ α: 'a', β: 'b', ε: 'e', η: 'n', ι: 'i', κ: 'k', ν: 'v', ο: 'o', ρ: 'p', τ: 't', υ: 'u', χ: 'x', ω: 'w' },
  ...{ γ: 'y', σ: 'o', ϲ: 'c', ϳ: 'j', ɡ: 'g', ı: 'i', ɩ: 'i', ɑ: 'a', ɢ: 'g', ɪ: 'i', ɴ: 'n', ʀ: 'r', ʏ: 'y' },
  ...{ օ: 'o', ո: 'n', ս: 'u', հ: 'h', ց: 'g', ք: 'p', ա: 'w', ն: 'u', յ: 'j', զ: 'q' },
  ...{ ᴀ: 'a', ʙ: 'b', ᴄ: 'c', ᴅ: 'd', ᴇ: 'e', ꜰ: 'f', ʜ: 'h', ᴊ: 'j', ᴋ: 'k', ʟ: 'l', ᴍ: 'm', ᴏ: 'o', ᴘ: 'p' },
  ...{ ꜱ: 's', ᴛ: 't', ᴜ: 'u', ᴠ: 'v', ᴡ: 'w', ᴢ: 'z', ᴦ: 'r', ᴨ: 'n' },
}

/** Any of them. */
export const LOOKING_LATIN = new RegExp(`[${Object.keys(LOOKS).join('')}]`)
export const toLatin = (letter: string): string | undefined => LOOKS[letter]

/** Of these alone it is known that nobody mixes them into a Latin word by need, as physics does with Greek. */
const STRANGE = 'аеорсухіјѕԁһԛԝӏкмнтвοαɡաօոս'
const MIXED = new RegExp(`[a-z]{2}[${STRANGE}]|[${STRANGE}][a-z]{2}|[a-z][${STRANGE}]{1,3}[a-z]`, 'u')
/** By unit: Latin letters, and those that only look like them; a pair of both is where the whole is. */
const LATIN = 1
const LOOKING_SO = 2
const KINDS = new Uint8Array(1 << 16)
KINDS.fill(LATIN, 97, 123)
for (const letter of STRANGE) KINDS[letter.charCodeAt(0)] = LOOKING_SO

/** Where a Latin word holds letters of another script that only look like its own; -1 when none does. */
export function mixedWordAt(text: string): number {
  let before = 0
  for (let at = 0; at < text.length; at++) {
    const kind = KINDS[text.charCodeAt(at)]!
    if ((kind | before) === (LATIN | LOOKING_SO)) return text.search(MIXED)
    before = kind
  }
  return -1
}
