// The package's CommonJS file has another default export in the bundled server than in the sources; this one has the same.
import isIBAN from 'validator/es/lib/isIBAN'
import type { TextSpan } from '../span'
import type { Find } from './kind'
import { digitGroups } from './numbers'

/** Length by country (SWIFT registry): it says where an IBAN ends. */
const LENGTHS = new Map(
  `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27
   GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IR26 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 MC27
   MD24 ME22 MK19 MR27 MT31 MU30 MZ25 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28
   TL23 TN24 TR26 UA29 VA22 VG24 XK20`
    .split(/\s+/)
    .map((word) => [word.slice(0, 2), Number(word.slice(2))] as const),
)
/** Country code and check digits. */
const BEGINNING = /(?<![A-Za-z0-9])[A-Za-z]{2}[ -]?\d[ -]?\d(?=[ -]?[A-Za-z0-9])/y

/** IBANs whose country, length and check digits (mod 97) agree, in groups of any size. */
export const findIbans: Find = (text) => {
  const found: TextSpan[] = []
  const groups = digitGroups(text)
  for (let index = 0; index < groups.length; index += 2) {
    const start = beginningAt(text, groups[index]!)
    BEGINNING.lastIndex = start
    if (start < 0 || !BEGINNING.test(text)) continue
    const length = LENGTHS.get(text.slice(start, start + 2).toUpperCase())
    const end = length ? endOf(text, start, length) : -1
    if (end > 0 && isIBAN(text.slice(start, end).replace(/[ -]/g, '').toUpperCase())) found.push({ start, end })
  }
  return found
}

/** Where a word of two letters before a digit begins; -1 when there is none. */
function beginningAt(text: string, digit: number): number {
  const last = isBetween(text.charCodeAt(digit - 1)) ? digit - 2 : digit - 1
  if (last < 1 || !isLetter(text.charCodeAt(last)) || !isLetter(text.charCodeAt(last - 1))) return -1
  // Most words are longer.
  return last > 1 && isLetter(text.charCodeAt(last - 2)) ? -1 : last - 1
}

/** Blank and dash. */
const isBetween = (code: number): boolean => code === 32 || code === 45
const isLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122)

/** Where `length` letters and digits end, with at most one blank or dash between two; -1 when there are none. */
function endOf(text: string, start: number, length: number): number {
  let seen = 0
  let at = start
  for (; seen < length; at++) {
    if (/[A-Za-z0-9]/.test(text[at] ?? '')) seen++
    else if (!/[ -]/.test(text[at] ?? '') || !/[A-Za-z0-9]/.test(text[at - 1]!)) return -1
  }
  return /[A-Za-z0-9]/.test(text[at] ?? '') ? -1 : at
}
