import type { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import { type Find, followsWord } from './kind'
import { numberRuns, type Run } from './numbers'

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
    .filter(({ digits }) => digits.length <= 40)
    .flatMap((run) => inRun(text, run))

function inRun(text: string, run: Run): { start: number; end: number }[] {
  const { digits, groups } = run
  const shown = text.slice(run.start, run.end)
  if (/^\(?\+/.test(shown)) return isPossible(`+${digits}`) ? [bare(text, run)] : []
  if (/^00[1-9]/.test(digits) && digits.length >= 11 && isPossible(`+${digits.slice(2)}`)) return [run]
  if (digits.length >= 10 && digits.length <= 11 && NANP.test(shown) && isPossible(`+1${digits.slice(-10)}`)) {
    return followsWord(text, run.start, OTHER, 24) ? [] : [run]
  }
  const isCounted = groups.length > 1 && groups.every(({ start, end }) => end - start === 1)
  const isPlausible = digits.length >= 7 && digits.length <= 13 && !/^(\d)\1+$/.test(digits) && !isCounted
  return isPlausible &&
    !TIME.test(shown) &&
    followsWord(text, run.start, CONTEXT) &&
    !followsWord(text, run.start, OTHER, 24)
    ? [run]
    : []
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
