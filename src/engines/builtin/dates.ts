import { iso, utcDay } from '../../kernel/clock'
import { counted } from '../../kernel/text'
import type { Skill } from './question'
import { readNumber } from './words'

const DAY_MS = 86_400_000
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = 'January February March April May June July August September October November December'.split(' ')

/**
 * Questions about dates, in UTC or in the zone of a city: today, weekdays, times between dates, a time from a date,
 * leap years, the length of months.
 */
export const dates: Skill = ({ prompt, now }) => {
  const text = prompt.trim()
  for (const rule of [nearWeekday, monthLength, weekNumber, shifted, today, leapYear, between, until, weekday]) {
    const answer = rule(text, now)
    if (answer) return answer
  }
  return null
}

/** Words of a question about the calendar itself. With any other word, the question is about something else. */
const PLAIN = new Set(
  `please what which when tell me can could do you know i we is are was will be it the a an of on in at to there left
  have has does how many s date dates day days time week weekday weeks month year number calendar iso today now current
  currently right local moment tomorrow this next coming last previous until till utc exact`.split(/\s+/),
)

/** Whether a question has only such words, apart from names. */
const isPlain = (text: string, ...names: (string | undefined)[]): boolean => {
  const rest = names.reduce<string>((left, name) => (name ? left.replace(name, ' ') : left), text)
  return (rest.toLowerCase().match(/\p{L}+/gu) ?? []).every((word) => PLAIN.has(word))
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
  const [, place] = /\b(?:in|at)\s+(\p{Lu}[\p{L} .'-]{1,40}?)(?:\s+(?:now|today|right now))?[?.!]*$/u.exec(text) ?? []
  if (!isPlain(text, place)) return null
  if (place) return inPlace(place, now)
  if (
    /\b(?:next|last|this|coming|previous|in|from|after|before|ago)\b/i.test(
      text.replace(/\bthis (?:moment|time)\b/i, ''),
    )
  )
    return null
  if (/\btime\b/i.test(text) && !/\btime\s+(?:zone|complexity)\b/i.test(text))
    return `It is ${iso(now).slice(11, 16)} UTC on ${spellDate(now)}.`
  if (!/\b(?:today|it|current|now|date)\b/i.test(text)) return null
  if (/\btomorrow\b/i.test(text)) return `Tomorrow is ${spellDate(now + DAY_MS)} (UTC).`
  return `Today is ${spellDate(now)} (UTC).`
}

/** What time it is in a city that names a time zone, such as `Tokyo`; null for any other. */
function inPlace(place: string, now: number): string | null {
  const name = place.toLowerCase().replace(/[\s-]+/g, '_')
  const zone = Intl.supportedValuesOf('timeZone').find((one) => one.toLowerCase().split('/').at(-1) === name)
  if (!zone) return null
  const shown = new Intl.DateTimeFormat('en-GB', { timeZone: zone, dateStyle: 'full', timeStyle: 'short' })
  const parts = Object.fromEntries(shown.formatToParts(now).map(({ type, value }) => [type, value]))
  const day = `${parts.weekday}, ${parts.day} ${parts.month} ${parts.year}`
  return `It is ${parts.hour}:${parts.minute} in ${place} (${zone}) on ${day}.`
}

/** `What date is next Friday?`: the nearest such day after today, or before it. */
function nearWeekday(text: string, now: number): string | null {
  const [, which, name] =
    /^(?:please\s+)?(?:what|which|when|tell|how many days)\b.{0,40}?\b(?:(this|next|coming|last|previous|until|till)\s+)?(sun|mon|tues|wednes|thurs|fri|satur)day[?.!]*$/i.exec(
      text,
    ) ?? []
  if (!name || !isPlain(text, `${name}day`)) return null
  const day = WEEKDAYS.findIndex((one) => one.toLowerCase().startsWith(name.toLowerCase()))
  const today = WEEKDAYS.indexOf(weekdayOf(now))
  const isPast = /last|previous/i.test(which ?? '')
  const days = isPast ? -((today - day + 6) % 7) - 1 : ((day - today + 6) % 7) + 1
  const date = midnight(now) + days * DAY_MS
  if (/^how many/i.test(text)) return isPast ? null : `${counted(days, 'day')} until ${spellDate(date)}.`
  return `The ${isPast ? 'last' : 'next'} ${WEEKDAYS[day]} ${isPast ? 'before' : 'after'} today is ${spellDate(date)} (UTC).`
}

/** `How many days are in February 2028?` */
function monthLength(text: string, now: number): string | null {
  const [, name, stated] =
    /\bhow many days\b.{0,20}?\b(?:in|has|have)\s+(?:the month of\s+)?([a-z]{3,9})(?:\s+(\d{4}))?(?:\s+have)?[?.!]*$/i.exec(
      text,
    ) ?? []
  const month = MONTHS.findIndex((one) => one.toLowerCase() === name?.toLowerCase())
  if (month < 0 || !isPlain(text, name)) return null
  const year = Number(stated ?? utcDay(now).slice(0, 4))
  return `${MONTHS[month]} ${year} has ${new Date(Date.UTC(year, month + 1, 0)).getUTCDate()} days.`
}

/** The week as ISO 8601 counts them: the first one has the first Thursday of the year. */
function weekNumber(text: string, now: number): string | null {
  if (
    !/^(?:what|which)\b.*\b(?:week number|calendar week|number of the week|week is (?:it|this))\b/i.test(text) ||
    /\d/.test(text) ||
    !isPlain(text)
  )
    return null
  const thursday = midnight(now) + (3 - ((new Date(now).getUTCDay() + 6) % 7)) * DAY_MS
  const year = new Date(thursday).getUTCFullYear()
  return `It is week ${Math.floor((thursday - Date.UTC(year, 0, 1)) / (7 * DAY_MS)) + 1} of ${year} (ISO 8601).`
}

function leapYear(text: string): string | null {
  const year = Number(/\b(?:is|was|will)\s+(?:the year\s+)?(\d{3,4})\s+(?:be\s+)?a leap year/i.exec(text)?.[1])
  if (!year) return null
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return leap ? `Yes, ${year} is a leap year.` : `No, ${year} is not a leap year.`
}

function between(text: string, now: number): string | null {
  const found = /\b(day|week)s\b.*\bbetween\s+(.+?)\s+and\s+(.+?)[?.!]*$/i.exec(text)
  const [from, to] = [readDate(found?.[2], now), readDate(found?.[3], now)]
  if (from === null || to === null) return null
  const days = Math.abs(Math.round((to - from) / DAY_MS))
  if (/week/i.test(found![1]!)) {
    const rest = days % 7 ? ` and ${counted(days % 7, 'day')}` : ''
    return `There are ${counted(Math.floor(days / 7), 'week')}${rest} between ${utcDay(from)} and ${utcDay(to)}.`
  }
  return `There are ${counted(days, 'day')} between ${utcDay(from)} and ${utcDay(to)}.`
}

function until(text: string, now: number): string | null {
  const found = /\bdays\b.*\b(until|till|to|since)\s+(.+?)[?.!]*$/i.exec(text)
  const date = readDate(found?.[2], now)
  if (date === null) return null
  const days = Math.round((date - midnight(now)) / DAY_MS)
  return days >= 0
    ? `${counted(days, 'day')} until ${spellDate(date)}.`
    : `${counted(-days, 'day')} since ${spellDate(date)}.`
}

function shifted(text: string, now: number): string | null {
  const found =
    /(?:add\s+)?\b([\w-]+)\s+(day|week|month|year)s?\s+(from|after|before|ago|to)\b\s*(.*?)[?.!]*$/i.exec(text) ??
    /\bin\s+([\w-]+)\s+(day|week|month|year)s?()()[?.!]*$/i.exec(text)
  if (!found || !/\b(?:what|which|when|add|date|day)\b/i.test(text.slice(0, found.index + found[0].length))) return null
  const count = /^an?$/i.test(found[1]!) ? 1 : readNumber(found[1]!)
  const base = found[4] ? readDate(found[4], now) : midnight(now)
  if (count === null || base === null) return null
  const by = (/before|ago/i.test(found[3] ?? '') ? -1 : 1) * count
  const span = found[2]!.toLowerCase()
  if (span === 'day' || span === 'week') return `${spellDate(base + by * DAY_MS * (span === 'week' ? 7 : 1))}.`
  const date = new Date(base)
  const day = date.getUTCDate()
  const months = date.getUTCMonth() + by * (span === 'year' ? 12 : 1)
  // The last day of a month that is too short.
  const last = new Date(Date.UTC(date.getUTCFullYear(), months + 1, 0)).getUTCDate()
  const moved = Date.UTC(date.getUTCFullYear(), months, Math.min(day, last))
  return Number.isNaN(moved) ? null : `${spellDate(moved)}.`
}

function weekday(text: string, now: number): string | null {
  const found =
    /\b(?:what|which)\s+(?:day|weekday)\b.*?\b(?:is|was|will be|on|does)\s+(?:the\s+)?(.+?)(?:\s+fall on)?[?.!]*$/i.exec(
      text,
    )
  const date = readDate(found?.[1], now)
  return date === null ? null : `${utcDay(date)} is a ${weekdayOf(date)}.`
}

/**
 * `2026-03-01`, `1.3.2026`, `31/3/2026`, `1 March 2026`, `March 1, 2026`, `today`, `Christmas`; midnight UTC. Null for
 * others, and for `1/3/2026`, which is a day of January or of March.
 */
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
  const [, ...isoForm] = /^(\d{4})([-/])(\d{1,2})\2(\d{1,2})$/.exec(word) ?? []
  if (isoForm.length) return checkedDate(Number(isoForm[0]), Number(isoForm[2]), Number(isoForm[3]))
  const [, first, sign, second, year] = /^(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4})$/.exec(word) ?? []
  if (year) {
    const [one, other] = [Number(first), Number(second)]
    if (sign === '.' || one > 12 || one === other) return checkedDate(Number(year), other, one)
    return other > 12 ? checkedDate(Number(year), one, other) : null
  }
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
