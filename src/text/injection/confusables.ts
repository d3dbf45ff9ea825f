/** Latin letters, each with the lower-case letters of other scripts, and small capitals, that look like it. */
const LOOK_ALIKES = `
  aаαɑᴀ bвьβʙ cсϲᴄ dԁᴅ eеёεᴇ fꜰ gɡɢց hнһհʜ iіїιıɩɪ jјϳյᴊ kкκᴋ lӏʟ mмᴍ nпηɴոᴨ oоοσօᴏ pрρքᴘ qԛզ rгʀᴦ sѕꜱ
  tтτᴛ uиυսնᴜ vνᴠ wԝωաᴡ xхχ yуγʏ zᴢ`
export const byLookAlike = (rows: string) =>
  new Map(
    rows
      .trim()
      .split(/\s+/)
      .flatMap(([latin, ...letters]) => letters.map((letter) => [letter, latin!] as const)),
  )
const LATIN_OF = byLookAlike(LOOK_ALIKES)

/** Matches any letter that {@link toLatin} knows. */
export const LOOKING_LATIN = new RegExp(`[${[...LATIN_OF.keys()].join('')}]`)
/** The Latin letter that a letter of another script looks like. Undefined for all others. */
export const toLatin = (letter: string): string | undefined => LATIN_OF.get(letter)

/** Letters never needed in a Latin word. Excludes most Greek letters, because formulas mix them with Latin. */
const STRANGE = 'аеорсухіјѕԁһԛԝӏкмнтвοαɡաօոս'
const MIXED = new RegExp(`[a-z]{2}[${STRANGE}]|[${STRANGE}][a-z]{2}|[a-z][${STRANGE}]{1,3}[a-z]`, 'u')
/** Kind of each UTF-16 unit. The slower expression is only tried if both kinds are adjacent. */
const LATIN = 1
const LOOK_ALIKE = 2
const KINDS = new Uint8Array(1 << 16)
KINDS.fill(LATIN, 97, 123)
for (const letter of STRANGE) KINDS[letter.charCodeAt(0)] = LOOK_ALIKE

/** Offset of a Latin word that contains look-alike letters of another script, or -1. */
export function mixedWordAt(text: string): number {
  let before = 0
  for (let at = 0; at < text.length; at++) {
    const kind = KINDS[text.charCodeAt(at)]!
    if ((kind | before) === (LATIN | LOOK_ALIKE)) return text.search(MIXED)
    before = kind
  }
  return -1
}
