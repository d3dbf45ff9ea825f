/** Lower-case letters of other scripts, and small capitals, by the Latin letter they look like. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  a: 'аαɑᴀ',
  b: 'вьβʙ',
  c: 'сϲᴄ',
  d: 'ԁᴅ',
  e: 'еёεᴇ',
  f: 'ꜰ',
  g: 'ɡɢց',
  h: 'нһհʜ',
  i: 'іїιıɩɪ',
  j: 'јϳյᴊ',
  k: 'кκᴋ',
  l: 'ӏʟ',
  m: 'мᴍ',
  n: 'пηɴոᴨ',
  o: 'оοσօᴏ',
  p: 'рρքᴘ',
  q: 'ԛզ',
  r: 'гʀᴦ',
  s: 'ѕꜱ',
  t: 'тτᴛ',
  u: 'иυսնᴜ',
  v: 'νᴠ',
  w: 'ԝωաᴡ',
  x: 'хχ',
  y: 'уγʏ',
  z: 'ᴢ',
}
const LATIN_OF = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([latin, letters]) => [...letters].map((letter) => [letter, latin] as const)),
)

/** Matches any letter that {@link toLatin} knows. */
export const LOOKING_LATIN = new RegExp(`[${[...LATIN_OF.keys()].join('')}]`)
/** The Latin letter that a letter of another script looks like; undefined for all others. */
export const toLatin = (letter: string): string | undefined => LATIN_OF.get(letter)

/** Letters that nobody needs inside a Latin word. Most Greek ones are left out: formulas mix them with Latin. */
const STRANGE = 'аеорсухіјѕԁһԛԝӏкмнтвοαɡաօոս'
const MIXED = new RegExp(`[a-z]{2}[${STRANGE}]|[${STRANGE}][a-z]{2}|[a-z][${STRANGE}]{1,3}[a-z]`, 'u')
/** Kind of each UTF-16 unit. Only where both kinds stand side by side is the slower expression tried. */
const LATIN = 1
const LOOK_ALIKE = 2
const KINDS = new Uint8Array(1 << 16)
KINDS.fill(LATIN, 97, 123)
for (const letter of STRANGE) KINDS[letter.charCodeAt(0)] = LOOK_ALIKE

/** Offset at which a Latin word mixes in look-alike letters of another script; -1 when none does. */
export function mixedWordAt(text: string): number {
  let before = 0
  for (let at = 0; at < text.length; at++) {
    const kind = KINDS[text.charCodeAt(at)]!
    if ((kind | before) === (LATIN | LOOK_ALIKE)) return text.search(MIXED)
    before = kind
  }
  return -1
}
