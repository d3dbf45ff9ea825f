import type { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import { type Find, followsWord } from './kind'
import { digitsOf, numberRuns, type Run } from './numbers'

/** Words beside which people write a number; nothing but a few words may stand between. */
const CONTEXT =
  /(?:(?:\b(?:tele?(?:phone|fon|foon|fono|fone|fax)?s?|t[ée]l(?:[ée]phone|[ée]fono)?|phones?|call(?:back)?|ring|dial|fax|mobile?|m[óo]vil|cell(?:phone|ular)?|handy(?:nummer)?|whatsapp|signal|sms|text|contact|reach(?: us| me)?|number|rufnummer|anrufen?|appele[zr]?|ll[áa]ma(?:me|r)?|ligue|bel|gsm|komórk[a-ząę]+|zadzwoń|dzwoń|telefonu?)\b)|тел|звони|номер|моб|電話|携帯|电话|手机|電话|전화|번호|هاتف|جوال|फ़ोन|मोबाइल|☎️?|📞|📱)[^\d\n]{0,24}$/iu
/** An amount or a card is no number to call, whatever stands before it. */
const OTHER =
  /(?:\bcard|\border|invoice|serial|isbn|imei|account|konto|ticket|\bid\b|ssn|\bvat\b|eur|usd|[$€£])[^\d\n]{0,16}$/i
const NANP =
  /^(?:\+?1[-. ])?(?:\([2-9]\d{2}\) ?[2-9]\d{2}[-. ]\d{4}|[2-9]\d{2}([-.])[2-9]\d{2}\1\d{4}|[2-9]\d{2} [2-9]\d{2}-\d{4})$/

/** A day, with or without its hour, or the years from one to another. */
const TIME =
  /^(?:\d{1,2}[./-]\d{1,2}[./-](?:19|20)\d{2}|(?:19|20)\d{2}[./-]\d{1,2}[./-]\d{1,2})(?!\d)|^(?:19|20)\d{2} ?[-/] ?(?:19|20)\d{2}$/

/** Parsing is asked only of what looks like a number in full; its tables are read with the first one. */
let parse: typeof parsePhoneNumberFromString | undefined
export function loadPhoneTables(): void {
  parse ??= (require('libphonenumber-js/min') as typeof import('libphonenumber-js/min')).parsePhoneNumberFromString
}

/**
 * Numbers with a country code, in the shape of North America, or in any shape right behind a word such as
 * `Tel.`: without one of these nothing tells a number to call from a number of things.
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
  return isPlausible(text, run) &&
    !TIME.test(shown) &&
    followsWord(text, run.start, CONTEXT) &&
    !followsWord(text, run.start, OTHER, 24)
    ? [run]
    : []
}

const isDialledAbroad = (digits: string): boolean => /^00[1-9]/.test(digits) && isPossible(`+${digits.slice(2)}`)

/** As long as numbers are, and neither counted out digit by digit nor one digit again and again. */
function isPlausible(text: string, { digits, groups, start, end }: Run): boolean {
  if (digits < 7 || digits > 13) return false
  const isCounted = groups.length > 1 && groups.every((one) => one.end - one.start === 1)
  return !isCounted && !/^(\d)\1+$/.test(digitsOf(text, { start, end }))
}

/** A bracket that closes nothing belongs to the sentence. */
const bare = (text: string, { start, end }: Run): { start: number; end: number } =>
  text[start] === '(' && !text.slice(start, end).includes(')') ? { start: start + 1, end } : { start, end }

function isPossible(number: string): boolean {
  if (number.length < 8 || number.length > 17) return false
  loadPhoneTables()
  // `+49 (0)30 …`: the zero in brackets is dialled inside the country only.
  return [number, number.replace(/^(\+\d{2})0/, '$1')].some((one) => parse!(one)?.isPossible() === true)
}
