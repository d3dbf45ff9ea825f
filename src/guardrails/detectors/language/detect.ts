import type * as Tables from 'franc/data.js'
import type { Script } from './scripts'

/** ISO 639-1 and what the detector calls it; what is not here is known by its script only. */
const CODES = new Map(
  `en:eng es:spa pt:por id:ind fr:fra de:deu vi:vie it:ita tr:tur pl:pol ro:ron nl:nld hr:hrv sr:srp bs:bos hu:hun
   cs:ces sv:swe da:dan nn:nno nb:nob no:nob fi:fin ca:cat sk:slk sl:slv lt:lit lv:lvs et:ekk sq:als is:isl eu:eus
   gl:glg cy:cym af:afr tl:tgl sw:swh zu:zul ru:rus uk:ukr be:bel bg:bul mk:mkd kk:kaz ar:arb fa:pes ur:urd hi:hin
   mr:mar ne:npi`
    .split(/\s+/)
    .map((word) => [word.slice(0, 2), word.slice(3)] as const),
)
/** Told apart by nobody in a sentence or two. */
const ALIKE: readonly (readonly string[])[] = [
  ['nob', 'nno', 'dan'],
  ['hrv', 'srp', 'bos'],
  ['spa', 'glg'],
  ['por', 'glg'],
  ['nld', 'afr'],
  ['ces', 'slk'],
  ['hin', 'mar', 'npi'],
]

const KNOWN = [...new Set(CODES.values())]
export const isKnown = (language: string): boolean => CODES.has(language)

/** What the tables call the scripts that several languages share. */
const TABLES: Partial<Record<Script, string>> = { Latn: 'Latin', Cyrl: 'Cyrillic', Arab: 'Arabic', Deva: 'Devanagari' }
/** A language's commonest groups of three letters, the commonest first; what is not among them is as far as this. */
const MOST_RANK = 300
const ABSENT = MOST_RANK + 1

/**
 * The groups of letters any language has, in the order of their numbers, and for each a row of ranks, one a language:
 * a text is held against all languages at once. In one piece, for what lies about in memory is slow to come by.
 */
type Ranks = { languages: readonly string[]; groups: Float64Array; rows: Uint16Array }
const read = new Map<Script, Ranks>()

/** The tables are read with the first text that needs them. */
function ranksOf(script: Script): Ranks {
  const known = read.get(script)
  if (known) return known
  const { data } = require('franc/data.js') as typeof Tables
  const all = Object.entries(data[TABLES[script] ?? ''] ?? {}).filter(([language]) => KNOWN.includes(language))
  const orders = all.map(([, groups]) => groups.split('|'))
  const groups = Float64Array.from(new Set(orders.flat().map((group) => keyOf(group)))).sort()
  const places = new Map([...groups].map((group, place) => [group, place]))
  const rows = new Uint16Array(groups.length * all.length).fill(ABSENT)
  for (const [place, order] of orders.entries()) {
    for (const [rank, group] of order.entries()) rows[places.get(keyOf(group))! * all.length + place] = rank + 1
  }
  const made = { languages: all.map(([language]) => language), groups, rows }
  read.set(script, made)
  return made
}

/** Languages as the tables call them. */
export type Wanted = ReadonlySet<string>

/** Some languages (ISO 639-1, all known), and those nobody tells from one of them. */
export function wantedOf(languages: readonly string[]): Wanted {
  const codes = new Set(languages.map((language) => CODES.get(language)!))
  for (const alike of ALIKE) if (alike.some((code) => codes.has(code))) for (const code of alike) codes.add(code)
  return codes
}

/**
 * How well a text fits the best of some languages, by groups of three letters: 1 when it fits none of
 * all known ones better, less the worse. The measure is franc's, and so are its tables.
 */
export function fitOf(text: string, script: Script, wanted: Wanted): number {
  const { languages, groups, rows } = ranksOf(script)
  const distances = new Float64Array(languages.length)
  let absent = 0
  let known = 0
  const own = groupsOf(text)
  for (let at = 0; at < own.length; ) {
    const group = own[at]!
    const first = at
    while (at < own.length && own[at] === group) at++
    while (known < groups.length && groups[known]! < group) known++
    if (groups[known] === group) addTo(distances, rows, known * languages.length, at - first)
    else absent += MOST_RANK
  }
  for (let place = 0; place < distances.length; place++) distances[place]! += absent
  const least = Math.min(...distances)
  const best = Math.min(...distances.filter((_, place) => wanted.has(languages[place]!)))
  return Math.max(0, 1 - (best - least) / (text.length * MOST_RANK - least) || 0)
}

function addTo(distances: Float64Array, rows: Uint16Array, row: number, count: number): void {
  for (let place = 0; place < distances.length; place++) {
    const rank = rows[row + place]!
    distances[place]! += rank === ABSENT ? MOST_RANK : Math.abs(count - rank)
  }
}

/** Every three letters that stand together, blanks around words with them; those that are alike one after another. */
function groupsOf(text: string): Float64Array {
  const small = text.toLowerCase()
  const groups = new Float64Array(small.length + 2)
  let count = 0
  let beforeThat = BLANK
  let before = BLANK
  for (let at = 0; at <= small.length; at++) {
    const code = at < small.length ? small.charCodeAt(at) : BLANK
    // Digits and the signs around them part words as blanks do.
    const unit = code >= 32 && code <= 64 ? BLANK : code
    if (unit === BLANK && before === BLANK) continue
    if (before !== BLANK || beforeThat !== BLANK) groups[count++] = numberOf(beforeThat, before, unit)
    beforeThat = before
    before = unit
  }
  return groups.subarray(0, count).sort()
}

const BLANK = 32

/** Three units as one number. */
const numberOf = (first: number, second: number, third: number): number => (first * 0x10000 + second) * 0x10000 + third
const keyOf = (group: string): number => numberOf(group.charCodeAt(0), group.charCodeAt(1), group.charCodeAt(2))
