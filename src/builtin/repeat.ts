import type { Skill } from './question'
import { capital, readNumber, spell } from './words'

const ECHO =
  /^(?:please\s+)?(?:say|repeat|echo|reply|respond|answer|print|output|write)(?:\s+(?:back|only|just|exactly|verbatim|with|after me|the (?:exact )?(?:words?|text|phrase|string)|this))*(\s*:\s*|\s+)(?:["“'`](.+)["”'`]|(.+?))\s*$/is

/** The inside of what begins and ends with three backticks, of which one was taken for a quotation mark. */
const isFence = (text: string): boolean => text.startsWith('``') && text.endsWith('``')

/** `Reply with exactly: OK`, `say "yes"`: only when the words to repeat are marked or very short. */
export const echo: Skill = ({ prompt }) => {
  const found = ECHO.exec(prompt.trim())
  if (!found) return null
  const [, mark, quotedText, bareText] = found
  if (quotedText) return isFence(quotedText) ? `\`${quotedText}\`` : quotedText
  const marked = mark!.includes(':') || /\b(?:exactly|verbatim|only|just|after me)\b/i.test(prompt)
  const words = bareText!.split(/\s+/).length
  if (/^(?:say|repeat|echo)\b/i.test(prompt) && words <= 3) return bareText!
  return marked && words <= 60 ? bareText! : null
}

const COUNTING =
  /\bcount(?:ing)?\b(?<back>\s+(?:down|backwards?))?(?:\s+from\s+(?<from>[\w-]+))?(?<back2>\s+(?:down|backwards?))?(?:\s+(?:up\s+)?to\s+(?<to>[\w-]+))?(?:.*?\bby\s+(?<by>[\w-]+))?/i
const MAX_COUNTED = 1_000

/** `Count to five slowly`, `count from 3 to 9`, `count down from ten`, `count to 20 by twos`. */
export const count: Skill = ({ prompt }) => {
  const found = COUNTING.exec(prompt)?.groups
  if (!found || (!found.from && !found.to)) return null
  const back = Boolean(found.back ?? found.back2)
  const from = found.from ? readNumber(found.from) : 1
  const to = found.to ? readNumber(found.to) : 1
  const by = found.by ? readNumber(found.by.replace(/s$/, '')) : 1
  if (from === null || to === null || !by || by < 0 || (!found.to && !back)) return null
  const steps = Math.floor(Math.abs(to - from) / by) + 1
  if (![from, to, by].every(Number.isInteger) || steps > MAX_COUNTED) return null
  const direction = to >= from ? by : -by
  const numbers = Array.from({ length: steps }, (_, step) => from + step * direction)
  const inWords = numbers.every((value) => value >= 0 && value <= 20)
  return `${capital(numbers.map((value) => (inWords ? spell(value) : String(value))).join(', '))}.`
}
