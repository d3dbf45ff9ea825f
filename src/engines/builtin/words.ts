/** Helpers of the skills for numbers in words and in digits. */

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
  if (/^-?(?:[\d,]*\d|[\d,]*\.\d+)$/.test(text)) return Number(text.replaceAll(',', ''))
  return SPELLED.get(text.replace(/^a hundred/, 'one hundred').replace(/^([a-z]+ty) ([a-z]+)$/, '$1-$2')) ?? null
}

const SCALES = new Map([
  ['hundred', 100],
  ['thousand', 1e3],
  ['million', 1e6],
  ['billion', 1e9],
])
const VALUES = new Map(
  [...SMALL.entries(), ...TENS.map((word, at) => [at * 10, word] as const)].map(([n, w]) => [w, n]),
)
const SPELLED_WORD = [...VALUES.keys(), ...SCALES.keys()].filter(Boolean).join('|')
const SPELLED_RUN = new RegExp(`\\b(?:${SPELLED_WORD})(?:(?:[ -]| and )(?:${SPELLED_WORD}))*\\b`, 'g')

/** A text in lower case with its spelled numbers in digits: `two thousand and five` is 2005. */
export const inDigits = (text: string): string =>
  text.replace(SPELLED_RUN, (run) => {
    let [total, open] = [0, 0]
    for (const word of run.split(/[ -]/)) {
      const scale = SCALES.get(word) ?? 1
      if (scale === 1) open += VALUES.get(word) ?? 0
      else open = (open || 1) * scale
      if (scale > 100) [total, open] = [total + open, 0]
    }
    return String(total + open)
  })

/** A number in digits: no trailing zeros, at most 12 significant digits, exponent form for extreme values. */
export function showNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value)
  if (Math.abs(value) >= 1e15 || Math.abs(value) < 1e-6) return value.toExponential(6).replace(/(?:\.|(?<!0))0+e/, 'e')
  return String(Number(value.toPrecision(12)))
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Facts that a text states with a label: `Name: Ada`, `total = 12`, `the invoice number is A-17`. */
export function labelledFacts(text: string): Map<string, string> {
  const facts = new Map<string, string>()
  const add = (label: string, value: string) => {
    const key = normalLabel(label)
    const stated = value.trim().replace(/[.,;]$/, '')
    if (key && stated && !facts.has(key)) facts.set(key, stated)
  }
  for (const line of text.split(/\n|(?<=[.;])\s+|,\s+(?=[\w ]{2,30}:\s)/)) {
    const marked = /^[\s*-]*([\p{L}][\p{L}\p{N} _/-]{0,40}?)(?:(?<!\s)\s+)?[:=]\s*(\S.*)$/u.exec(line)
    if (marked) add(marked[1]!, marked[2]!)
  }
  for (const [, label, value] of text.matchAll(
    /\b(?:my|the|our|his|her|their|its)\s+([\p{L}][\p{L} ]{1,30}?)\s+(?:is|was|are)\s+((?:[^.,;\n]|[.,](?=\S))+)/giu,
  )) {
    add(label!, value!)
  }
  return facts
}

/** Gives `Invoice number`, `invoice_number` and `invoiceNumber` the same form. */
const normalLabel = (label: string): string =>
  label
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** The value of a label, or of one that ends in it (`customer name` for `name`) or the reverse; else undefined. */
export function factFor(label: string, facts: ReadonlyMap<string, string>): string | undefined {
  const key = normalLabel(label)
  const exact = facts.get(key)
  if (exact !== undefined) return exact
  for (const [known, value] of facts) if (known.endsWith(` ${key}`) || key.endsWith(` ${known}`)) return value
  return undefined
}
