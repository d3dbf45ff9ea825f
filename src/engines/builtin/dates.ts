import { iso, utcDay } from '../../kernel/clock'
import type { Skill } from './question'
import { plural, readNumber } from './words'

const DAY_MS = 86_400_000
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = 'January February March April May June July August September October November December'.split(' ')

/** Questions about dates, in UTC: today, weekdays, days between dates, a number of days from a date, leap years. */
export const dates: Skill = ({ prompt, now }) => {
  const text = prompt.trim()
  for (const rule of [today, leapYear, between, until, shifted, weekday]) {
    const answer = rule(text, now)
    if (answer) return answer
  }
  return null
}

const midnight = (ms: number): number => ms - (((ms % DAY_MS) + DAY_MS) % DAY_MS)
const weekdayOf = (ms: number): string =>
  WEEKDAYS[(Math.floor(ms / DAY_MS) + 4) % 7] ?? WEEKDAYS.at((Math.floor(ms / DAY_MS) + 4) % 7)!

/** `Thursday, 1 January 2026`. */
function spellDate(ms: number): string {
  const [year, month, day] = utcDay(ms).split('-').map(Number)
  return `${weekdayOf(ms)}, ${day} ${MONTHS[month! - 1]} ${year}`
}

function today(text: string, now: number): string | null {
  if (!/^(?:please\s+)?(?:what|which|tell)\b.*\b(?:today|date|day|time|year|month)\b/i.test(text) || /\d/.test(text))
    return null
  if (/\btime\b/i.test(text) && !/\btime\s+(?:zone|complexity)\b/i.test(text))
    return `It is ${iso(now).slice(11, 16)} UTC on ${spellDate(now)}.`
  if (!/\b(?:today|it|current|now|date)\b/i.test(text)) return null
  if (/\btomorrow\b/i.test(text)) return `Tomorrow is ${spellDate(now + DAY_MS)} (UTC).`
  return `Today is ${spellDate(now)} (UTC).`
}

function leapYear(text: string): string | null {
  const year = Number(/\b(?:is|was|will)\s+(?:the year\s+)?(\d{3,4})\s+(?:be\s+)?a leap year/i.exec(text)?.[1])
  if (!year) return null
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return leap ? `Yes, ${year} is a leap year.` : `No, ${year} is not a leap year.`
}

function between(text: string, now: number): string | null {
  const found = /\bdays\b.*\bbetween\s+(.+?)\s+and\s+(.+?)[?.!]*$/i.exec(text)
  const [from, to] = [readDate(found?.[1], now), readDate(found?.[2], now)]
  if (from === null || to === null) return null
  const days = Math.abs(Math.round((to - from) / DAY_MS))
  return `There are ${plural(days, 'day')} between ${utcDay(from)} and ${utcDay(to)}.`
}

function until(text: string, now: number): string | null {
  const found = /\bdays\b.*\b(until|till|to|since)\s+(.+?)[?.!]*$/i.exec(text)
  const date = readDate(found?.[2], now)
  if (date === null) return null
  const days = Math.round((date - midnight(now)) / DAY_MS)
  return days >= 0
    ? `${plural(days, 'day')} until ${spellDate(date)}.`
    : `${plural(-days, 'day')} since ${spellDate(date)}.`
}

const SPANS: Record<string, number> = { day: DAY_MS, week: 7 * DAY_MS }

function shifted(text: string, now: number): string | null {
  const found =
    /(?:add\s+)?\b([\w-]+)\s+(day|week)s?\s+(from|after|before|ago|to)\b\s*(.*?)[?.!]*$/i.exec(text) ??
    /\bin\s+([\w-]+)\s+(day|week)s?()()[?.!]*$/i.exec(text)
  if (!found || !/\b(?:what|which|when|add|date|day)\b/i.test(text.slice(0, found.index + found[0].length))) return null
  const count = readNumber(found[1]!)
  const base = found[4] ? readDate(found[4], now) : midnight(now)
  if (count === null || base === null) return null
  const back = /before|ago/i.test(found[3] ?? '')
  return `${spellDate(base + (back ? -1 : 1) * count * SPANS[found[2]!.toLowerCase()]!)}.`
}

function weekday(text: string, now: number): string | null {
  const found =
    /\b(?:what|which)\s+(?:day|weekday)\b.*?\b(?:is|was|will be|on|does)\s+(?:the\s+)?(.+?)(?:\s+fall on)?[?.!]*$/i.exec(
      text,
    )
  const date = readDate(found?.[1], now)
  return date === null ? null : `${utcDay(date)} is a ${weekdayOf(date)}.`
}

/** `2026-03-01`, `1 March 2026`, `March 1, 2026`, `today`, `Christmas`; midnight UTC, or null. */
export function readDate(text: string | undefined, now: number): number | null {
  if (!text) return null
  const word = text
    .trim()
    .toLowerCase()
    .replace(/^the\s+/, '')
  if (/^(?:today|now)$/.test(word)) return midnight(now)
  if (word === 'tomorrow') return midnight(now) + DAY_MS
  if (word === 'yesterday') return midnight(now) - DAY_MS
  if (/^christmas$|^new year/.test(word)) return nextYearly(word.startsWith('c') ? '12-25' : '01-01', now)
  const isoForm = /^(\d{4})-(\d{2})-(\d{2})$/.exec(word)
  if (isoForm) return checkedDate(Number(isoForm[1]), Number(isoForm[2]), Number(isoForm[3]))
  const named =
    /^(?:(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?([a-z]{3,9})|([a-z]{3,9})\s+(\d{1,2})(?:st|nd|rd|th)?),?\s+(\d{4})$/.exec(
      word,
    )
  if (!named) return null
  const month = MONTHS.findIndex((name) => name.toLowerCase().startsWith((named[2] ?? named[3])!.slice(0, 3))) + 1
  return month === 0 ? null : checkedDate(Number(named[5]), month, Number(named[1] ?? named[4]))
}

function nextYearly(monthDay: string, now: number): number {
  const year = Number(utcDay(now).slice(0, 4))
  const [month, day] = monthDay.split('-').map(Number)
  const thisYear = Date.UTC(year, month! - 1, day)
  return thisYear >= midnight(now) ? thisYear : Date.UTC(year + 1, month! - 1, day)
}

function checkedDate(year: number, month: number, day: number): number | null {
  const ms = Date.UTC(year, month - 1, day)
  return utcDay(ms) === [year, String(month).padStart(2, '0'), String(day).padStart(2, '0')].join('-') ? ms : null
}
