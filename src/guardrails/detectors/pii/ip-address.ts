import ipaddr from 'ipaddr.js'
import { runsOf } from '../../../kernel/runs'
import { type Find, follows } from './kind'

const V4 = /(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\.?\w)/y
const V6 = /(?<![\w:.])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?:(?:\.\d{1,3}){3})?(?![\w:])/y

/** What they are made of: an address begins where such a run does. */
const runs4 = runsOf(/[\d.]/, 7)
const runs6 = runsOf(/[0-9a-fA-F:.]/, 8)

/** Four numbers also count chapters and versions. */
const COUNTED =
  /(?:\bv\.?|version|release|build|firmware|section|chapter|paragraph|clause|rules?|article|appendix|packaged|§|oid|kapitel|abschnitt|nr\.|no\.)\s*$/i
const CONTEXT =
  /(?:\b(?:ip(?:v4)?|address|addr|host|server|dns|ping|ssh|client|peer|from|to|gateway|node|resolver|proxy)\b[^\w]{0,3}|:\/\/|[=@[])$/i
const SMALL = 20

/** Addresses of machines. Those that every machine has (loopback, any, broadcast, masks) say nothing of anyone. */
export const findAddresses: Find = (text) => {
  const found = []
  for (const [start, hit] of beginnings(text, runs6(text), V6)) {
    if (isTelling6(hit)) found.push({ start, end: start + hit.length })
  }
  for (const [start, hit] of beginnings(text, runs4(text), V4)) {
    if (isTelling4(hit) && !isCounting(text, start, hit)) found.push({ start, end: start + hit.length })
  }
  return found
}

/** Which of the runs begin so, and where. */
function beginnings(text: string, runs: readonly number[], pattern: RegExp): (readonly [number, string])[] {
  const found: [number, string][] = []
  for (let place = 0; place < runs.length; place += 2) {
    pattern.lastIndex = runs[place]!
    const hit = pattern.exec(text)
    if (hit) found.push([hit.index, hit[0]])
  }
  return found
}

function isTelling4(hit: string): boolean {
  if (!ipaddr.IPv4.isValidFourPartDecimal(hit) || /(?:^|\.)0\d/.test(hit)) return false
  const range = ipaddr.IPv4.parse(hit).range()
  return range !== 'loopback' && range !== 'unspecified' && range !== 'broadcast' && !hit.startsWith('255.')
}

function isCounting(text: string, start: number, hit: string): boolean {
  if (follows(text, start, COUNTED, 16)) return true
  const isSmall = hit.split('.').every((part) => Number(part) < SMALL)
  return isSmall && !follows(text, start, CONTEXT, 16) && !/^[:/]\d/.test(text.slice(start + hit.length))
}

function isTelling6(hit: string): boolean {
  // A short one is rather a name in a program: `a::b`.
  if (hit.replace(/[^0-9a-fA-F]/g, '').length < 6) return false
  // Times and addresses of cards have too few groups; the package would throw to say so.
  const isWhole = hit.includes('::') || hit.includes('.') || hit.split(':').length === 8
  if (!isWhole || !ipaddr.IPv6.isValid(hit)) return false
  const range = ipaddr.IPv6.parse(hit).range()
  return range !== 'loopback' && range !== 'unspecified'
}
