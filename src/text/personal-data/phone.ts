import type { CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/min'
import { type Find, followsWord } from './kind'
import { digitsOf, numberRuns, type Run } from './numbers'

/** Words before a phone number; up to 24 characters without a digit may stand between. */
const CONTEXT =
  /(?:(?:\b(?:tele?(?:phone|fon|foon|fono|fone|fax)?s?|t[ée]l(?:[ée]phone|[ée]fono)?|phones?|call(?:back)?|ring|dial|fax|mobile?|m[óo]vil|cell(?:phone|ular)?|handy(?:nummer)?|whatsapp|signal|sms|text|contact|reach(?: us| me)?|number|rufnummer|anrufen?|appele[zr]?|ll[áa]ma(?:me|r)?|ligue|bel|gsm|komórk[a-ząę]+|zadzwoń|dzwoń|telefonu?)\b)|тел|звони|номер|моб|電話|携帯|电话|手机|電话|전화|번호|هاتف|جوال|फ़ोन|मोबाइल|☎️?|📞|📱)[^\d\n]{0,24}$/iu
/** Words before other numbers, such as amounts and cards: these are never phone numbers. */
const OTHER =
  /(?:\bcard|\border|invoice|serial|isbn|imei|account|konto|ticket|\bid\b|ssn|\bvat\b|eur|usd|[$€£])[^\d\n]{0,16}$/i
/** A number in North American form, with or without the country code. */
const NANP =
  /^(?:\+?1[-. ])?(?:\([2-9]\d{2}\) ?[2-9]\d{2}[-. ]\d{4}|[2-9]\d{2}([-.])[2-9]\d{2}\1\d{4}|[2-9]\d{2} [2-9]\d{2}-\d{4})$/

/** A date, with or without a time, or a range of years. */
const TIME =
  /^(?:\d{1,2}[./-]\d{1,2}[./-](?:19|20)\d{2}|(?:19|20)\d{2}[./-]\d{1,2}[./-]\d{1,2})(?!\d)|^(?:19|20)\d{2} ?[-/] ?(?:19|20)\d{2}$/

/** Loaded on first use, because its tables are large. */
let parse: typeof parsePhoneNumberFromString | undefined
export function loadPhoneTables(): void {
  parse ??= (require('libphonenumber-js/min') as typeof import('libphonenumber-js/min')).parsePhoneNumberFromString
}

/**
 * Phone numbers: with a country code, in North American form, or in any form right behind a word such as `Tel.`.
 * Without one of these nothing tells a phone number from other numbers.
 */
export const findPhones: Find = (text) =>
  numberRuns(text)
    .filter(({ digits }) => digits <= 40)
    .flatMap((run) => inRun(text, run))

function inRun(text: string, run: Run): { start: number; end: number }[] {
  const shown = text.slice(run.start, run.end)
  if (/^\(?\+/.test(shown)) return isPossible(`+${digitsOf(text, run)}`) ? [bare(text, run)] : []
  if (run.digits >= 11 && isDialledAbroad(digitsOf(text, run))) return [run]
  if (run.digits >= 10 && run.digits <= 11 && NANP.test(shown) && isPossible(`+1${digitsOf(text, run).slice(-10)}`)) {
    return followsWord(text, run.start, OTHER, 24) ? [] : [run]
  }
  if (isNational(text, run, shown)) return followsWord(text, run.start, OTHER, 24) ? [] : [bare(text, run)]
  return isPlausible(text, run) &&
    !TIME.test(shown) &&
    followsWord(text, run.start, CONTEXT) &&
    !followsWord(text, run.start, OTHER, 24)
    ? [run]
    : []
}

/** Countries that dial a zero first inside the country; together they have the usual forms. */
const WITH_ZERO: readonly CountryCode[] = ['GB', 'DE', 'FR', 'NL', 'IT', 'AU', 'JP', 'KR', 'TR', 'UA', 'IN', 'SE', 'ZA']

/** A number in groups that begins with a zero and is one in a country of these: `06 12 34 56 78`, `030 1234567`. */
function isNational(text: string, run: Run, shown: string): boolean {
  const { digits, groups } = run
  if (digits < 9 || digits > 12 || groups.length < 2 || groups.length > 5) return false
  if (!/^\(?0[1-9]/.test(shown) || /\.|\d-\d{1,3}-\d$/.test(shown) || TIME.test(shown)) return false
  const number = digitsOf(text, run)
  if (/(\d)\1{5}/.test(number)) return false
  loadPhoneTables()
  return WITH_ZERO.some((country) => parse!(number, country)?.isValid() === true)
}

const isDialledAbroad = (digits: string): boolean => /^00[1-9]/.test(digits) && isPossible(`+${digits.slice(2)}`)

/** Whether it is as long as phone numbers are, and neither single digits in a row nor one digit repeated. */
function isPlausible(text: string, { digits, groups, start, end }: Run): boolean {
  if (digits < 7 || digits > 13) return false
  const isCounted = groups.length > 1 && groups.every((one) => one.end - one.start === 1)
  return !isCounted && !/^(\d)\1+$/.test(digitsOf(text, { start, end }))
}

/** Leaves out an opening bracket that is not closed in the number: it belongs to the sentence. */
const bare = (text: string, { start, end }: Run): { start: number; end: number } =>
  text[start] === '(' && !text.slice(start, end).includes(')') ? { start: start + 1, end } : { start, end }

function isPossible(number: string): boolean {
  if (number.length < 8 || number.length > 17) return false
  loadPhoneTables()
  // `+49 (0)30 …`: the zero in brackets is dialled inside the country only.
  return [number, number.replace(/^(\+\d{2})0/, '$1')].some((one) => parse!(one)?.isPossible() === true)
}
