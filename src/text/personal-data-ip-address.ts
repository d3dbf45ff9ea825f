import ipaddr from 'ipaddr.js'
import { type Find, follows } from './personal-data-kind'
import { digitGroups } from './personal-data-numbers'
import type { TextSpan } from './schema'

const V4 = /(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\.?\w)/y
const V6 = /(?<![\w:.])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?:(?:\.\d{1,3}){3})?(?![\w:])/y
const MIN_OF_6 = 8
const DOT = 46

/** Words before four dotted numbers that make them a version or a chapter. */
const COUNTED =
  /(?:(?:\bv(?:er)?\.?|versions?|versión|versione|versão|versie|wersja|версия|release|build|firmware)["'>]?[\s:=]{0,4}["'(]{0,2}(?:[\d.]{7,15}["']?\s?(?:to|and|or|,|->|→)\s?)?|(?:section|chapter|paragraph|clause|rules?|article|appendix|packaged|§|oid|kapitel|abschnitt|nr\.|no\.)\s*|(?:chrome|chromium|edga?|edge|opr|yabrowser|electron|vivaldi)\/|#\s?\[)$/i
/** Words and signs before four dotted numbers that make them an address. */
const CONTEXT =
  /(?:\b(?:ip(?:v4)?|address|addr|host|server|dns|ping|ssh|client|peer|from|to|gateway|node|resolver|proxy)\b[^\w]{0,3}|:\/\/|[=@[])$/i
const SMALL = 20
const PARTS = 4

/** Finds IP addresses, except those that every machine has (loopback, any, broadcast, masks) and identify nobody. */
export const findAddresses: Find = (text) => {
  const found: TextSpan[] = []
  for (const [start, hit] of hitsAt(beginnings6(text), V6, text)) {
    if (isTelling6(hit)) found.push({ start, end: start + hit.length })
  }
  for (const [start, hit] of hitsAt(beginnings4(text), V4, text)) {
    if (isTelling4(hit) && !isCounting(text, start, hit)) found.push({ start, end: start + hit.length })
  }
  return found
}

/** The matches of a sticky pattern at the given offsets. */
function hitsAt(offsets: readonly number[], pattern: RegExp, text: string): (readonly [number, string])[] {
  const hits: [number, string][] = []
  for (const index of offsets) {
    pattern.lastIndex = index
    const hit = pattern.exec(text)
    if (hit) hits.push([index, hit[0]])
  }
  return hits
}

/** The starts of runs of hexadecimal digits, colons and dots that contain a colon. */
function beginnings6(text: string): number[] {
  const found: number[] = []
  for (let at = text.indexOf(':'); at >= 0; ) {
    let start = at
    let end = at + 1
    while (start > 0 && isPart6(text.charCodeAt(start - 1))) start--
    while (end < text.length && isPart6(text.charCodeAt(end))) end++
    if (end - start >= MIN_OF_6) found.push(start)
    at = text.indexOf(':', end)
  }
  return found
}

/** Hexadecimal digits, colon and dot. */
const isPart6 = (code: number): boolean =>
  (code >= 48 && code <= 58) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70) || code === 46

/** The possible starts of an IPv4 address: three groups of digits one character apart, with a dot after the first. */
function beginnings4(text: string): number[] {
  const found: number[] = []
  const groups = digitGroups(text)
  for (let index = 0; index + 5 < groups.length; index += 2) {
    const isDotted = groups[index + 2]! - groups[index + 1]! === 1 && groups[index + 4]! - groups[index + 3]! === 1
    if (isDotted && text.charCodeAt(groups[index + 1]!) === DOT) found.push(groups[index]!)
  }
  return found
}

/** Whether it is a valid IPv4 address that can identify a person. */
function isTelling4(hit: string): boolean {
  if (!ipaddr.IPv4.isValidFourPartDecimal(hit) || /(?:^|\.)0\d/.test(hit)) return false
  const range = ipaddr.IPv4.parse(hit).range()
  return range !== 'loopback' && range !== 'unspecified' && range !== 'broadcast' && !hit.startsWith('255.')
}

/** Whether four dotted numbers are probably a version or a chapter. */
function isCounting(text: string, start: number, hit: string): boolean {
  if (follows(text, start, COUNTED)) return true
  const small = hit.split('.').filter((part) => Number(part) < SMALL).length
  // Private networks also have small numbers.
  const isSmall = small === PARTS || (small === PARTS - 1 && ipaddr.IPv4.parse(hit).range() === 'unicast')
  return isSmall && !follows(text, start, CONTEXT, 16) && !/^[:/]\d/.test(text.slice(start + hit.length))
}

/** Whether it is a valid IPv6 address that can identify a person. */
function isTelling6(hit: string): boolean {
  // With few digits it is probably a name in a program, such as `a::b`.
  if (hit.replace(/[^0-9a-fA-F]/g, '').length < 6) return false
  // Times and MAC addresses have too few groups. The package would detect that by throwing, which is slow.
  const isWhole = hit.includes('::') || hit.includes('.') || hit.split(':').length === 8
  if (!isWhole || !ipaddr.IPv6.isValid(hit)) return false
  const range = ipaddr.IPv6.parse(hit).range()
  return range !== 'loopback' && range !== 'unspecified'
}
