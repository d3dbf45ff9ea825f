const MONTHS = 'january february march april may june july august september october november december'.split(' ')
const MONTH = `(${MONTHS.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join('|')}|sept)\\.?`
const DAY = '(\\d{1,2})(?:st|nd|rd|th)?'
const DAY_FIRST = new RegExp(`\\b${DAY}(?: of)? ${MONTH},? (\\d{4})\\b`, 'gi')
const MONTH_FIRST = new RegExp(`\\b${MONTH} ${DAY},? (\\d{4})\\b`, 'gi')

const NUMBERS: Record<string, string> = Object.fromEntries(
  `zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
   eighteen nineteen`
    .split(/\s+/)
    .map((word, value) => [word, String(value)]),
)
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
for (const [place, word] of TENS.entries()) NUMBERS[word] = String((place + 2) * 10)

/** What follows a number and is the same thing spelled out. Letters and words that stand for two things (`m`, `s`, `pounds`) are not here. */
const UNITS: Record<string, string> = Object.fromEntries(
  Object.entries({
    kilometer: 'km kilometers kilometre kilometres',
    centimeter: 'cm centimeters centimetre centimetres',
    millimeter: 'mm millimeters millimetre millimetres',
    mile: 'miles',
    kilogram: 'kg kilograms kilo kilos',
    gram: 'grams',
    milligram: 'mg milligrams',
    milliliter: 'ml milliliters millilitre millilitres',
    liter: 'liters litre litres',
    second: 'seconds sec secs',
    minute: 'minutes min mins',
    hour: 'hours hr hrs',
    day: 'days',
    week: 'weeks',
    month: 'months',
    year: 'years yrs yr',
    percent: '%',
    dollar: 'dollars',
    euro: 'euros €',
    kilobyte: 'kb kilobytes',
    megabyte: 'mb megabytes',
    gigabyte: 'gb gigabytes',
  }).flatMap(([unit, others]) => [unit, ...others.split(' ')].map((spelled) => [spelled, unit])),
)

/** English dates with a year, in one form. Those that two readers would read differently (`05/06/2024`) stay as they are. */
export const datesAlike = (text: string): string =>
  text
    .replace(DAY_FIRST, (found, day, month, year) => isoDate(found, year, month, day))
    .replace(MONTH_FIRST, (found, month, day, year) => isoDate(found, year, month, day))

function isoDate(found: string, year: string, month: string, day: string): string {
  if (Number(day) < 1 || Number(day) > 31) return found
  const number = MONTHS.findIndex((name) => name.startsWith(month.slice(0, 3).toLowerCase())) + 1
  return `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`
}

/** `$5` as it is said, and `10%`. */
export const amountsAlike = (text: string): string =>
  text
    .replace(/\$\s?(\d[\d.,]*\d|\d)(?![\d.,]*\s?(?:k|m|bn?|million|billion|thousand)\b)/gi, '$1 dollars')
    .replace(/€\s?(\d[\d.,]*\d|\d)(?![\d.,]*\s?(?:k|m|bn?|million|billion|thousand)\b)/gi, '$1 euros')
    .replace(/(?<=\d) ?per ?cent\b/gi, ' percent')

/** One English word in the light of the one before it: numbers as digits, units after a number spelled out. */
export function quantityAlike(word: string, before: string | undefined): string {
  if (/^\d{1,3}(?:,\d{3})+$/.test(word)) return word.replaceAll(',', '')
  if (Object.hasOwn(NUMBERS, word)) return NUMBERS[word]!
  if (before !== undefined && /^\d/.test(before) && Object.hasOwn(UNITS, word)) return UNITS[word]!
  return word
}
