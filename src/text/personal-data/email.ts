import type { Find } from './kind'

const MOST_LOCAL = 64
const MOST_DOMAIN = 253
const LETTER = /[\p{L}\p{M}]/u
/** A name with a dot and an ending of letters; `icon@2x.png` names a picture. */
const DOMAIN =
  /^(?!\d+(?:\.\d+)?x\.)(?:[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?\.)+(?:[\p{L}\p{M}]{2,24}|xn--[a-z0-9-]{2,59})$/iu

/** Looks left and right of every `@`, at most as far as an address can reach. */
export const findEmails: Find = (text) => {
  const found = []
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const start = startOf(text, at)
    if (start === at || isUserinfo(text, start)) continue
    const end = endOf(text, at + 1)
    if (end > at + 1 && DOMAIN.test(text.slice(at + 1, end))) found.push({ start, end })
  }
  return found
}

function startOf(text: string, at: number): number {
  let start = at
  while (start > 0 && at - start < MOST_LOCAL && isPart(text, start - 1, "._%+-'~")) start--
  while (start < at && "._%+-'~".includes(text[start]!) && text[start] !== '_') start++
  return text[at - 1] === '.' ? at : start
}

function endOf(text: string, from: number): number {
  let end = from
  while (end < text.length && end - from < MOST_DOMAIN && isPart(text, end, '.-')) end++
  while (end > from && '.-'.includes(text[end - 1]!)) end--
  return end
}

/** Letters from U+2E80 on do not count: these scripts write no blanks, so words beside the address would join it. */
function isPart(text: string, at: number, signs: string): boolean {
  const code = text.charCodeAt(at)
  if (code < 0x80) {
    const isAlphanumeric = (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
    return isAlphanumeric || signs.includes(text[at]!)
  }
  return code < 0x2e80 && LETTER.test(text[at]!)
}

/** `scheme://user:word@host` is a password, not an address. */
function isUserinfo(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - 100), start)
  return /:\/\/[^\s/@]*$/.test(before)
}
