/** Small language tools the skills share: sentences, content words, numbers in words. */

/** Sentences of a text, in order, each trimmed; lines that are no sentences count as ones. */
export const sentencesOf = (text: string): string[] =>
  text
    .split(/(?<=[.!?。！？])\s+|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence))

const STOP = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by can
   could did do does doing down during each few for from further had has have having he her here hers him his how i if in
   into is it its just me more most my no nor not now of off on once only or other our out over own please same she should
   so some such tell than that the their them then there these they this those through to too under until up us very was
   we were what when where which while who whom why will with would you your yours`.split(/\s+/),
)

/** Lower-case words that carry meaning, crudely cut to their stem so that `orders` finds `order`. */
export const contentWords = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !STOP.has(word)).map(stem)

const stem = (word: string): string => (word.length > 4 ? word.replace(/(?:ies|es|s|ed|ing)$/, '') : word)

const SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
const TENS = ['', '', ...'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')]

/** 0 to 999 in words; larger numbers in digits. */
export function spell(value: number): string {
  if (!Number.isInteger(value) || value < 0 || value > 999) return String(value)
  if (value < 20) return SMALL[value]!
  if (value < 100) return TENS[Math.floor(value / 10)]! + (value % 10 ? `-${SMALL[value % 10]}` : '')
  return `${SMALL[Math.floor(value / 100)]} hundred${value % 100 ? ` and ${spell(value % 100)}` : ''}`
}

const SPELLED = new Map([...Array(1_000).keys()].map((value) => [spell(value), value] as const))

/** `12`, `1,200`, `twelve`, `a hundred`; null for anything else. */
export function readNumber(word: string): number | null {
  const text = word.trim().toLowerCase()
  if (/^-?[\d,]*\.?\d+$/.test(text)) return Number(text.replaceAll(',', ''))
  return SPELLED.get(text.replace(/^a hundred/, 'one hundred').replace(/^([a-z]+ty) ([a-z]+)$/, '$1-$2')) ?? null
}

/** A number as people write it: no trailing zeros, at most 10 significant decimals. */
export function showNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value)
  if (Math.abs(value) >= 1e15 || Math.abs(value) < 1e-6) return value.toExponential(6).replace(/\.?0+e/, 'e')
  return String(Number(value.toPrecision(12)))
}

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
