import type * as Tables from 'franc/data.js'
import type { Script } from './scripts'

/** ISO 639-1 codes and the detector's own. Other languages are known by their script only. */
const CODES = new Map(
  `en:eng es:spa pt:por id:ind fr:fra de:deu vi:vie it:ita tr:tur pl:pol ro:ron nl:nld hr:hrv sr:srp bs:bos hu:hun
   cs:ces sv:swe da:dan nn:nno nb:nob no:nob fi:fin ca:cat sk:slk sl:slv lt:lit lv:lvs et:ekk sq:als is:isl eu:eus
   gl:glg cy:cym af:afr tl:tgl sw:swh zu:zul ru:rus uk:ukr be:bel bg:bul mk:mkd kk:kaz ar:arb fa:pes ur:urd hi:hin
   mr:mar ne:npi`
    .split(/\s+/)
    .map((word) => [word.slice(0, 2), word.slice(3)] as const),
)
/** Languages that cannot be told apart in a sentence or two. */
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

/** The scripts that several languages share, as the tables call them. */
const TABLES: Partial<Record<Script, string>> = { Latn: 'Latin', Cyrl: 'Cyrillic', Arab: 'Arabic', Deva: 'Devanagari' }
/** The tables rank the 300 commonest trigrams of each language; a trigram that is not among them has this rank. */
const MOST_RANK = 300
const ABSENT = MOST_RANK + 1

/**
 * The trigrams of all languages, sorted, with a row of ranks each: one rank a language, so that a text is compared with
 * all languages in one pass. Flat arrays, because scattered objects are slow to read.
 */
type Ranks = { languages: readonly string[]; groups: Float64Array; rows: Uint16Array }
const read = new Map<Script, Ranks>()

/** Read with the first text in a script. */
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

/** Language codes of the tables. */
export type Wanted = ReadonlySet<string>

/** Languages (ISO 639-1, all known) with those that cannot be told from one of them. */
export function wantedOf(languages: readonly string[]): Wanted {
  const codes = new Set(languages.map((language) => CODES.get(language)!))
  for (const alike of ALIKE) if (alike.some((code) => codes.has(code))) for (const code of alike) codes.add(code)
  return codes
}

/**
 * How well a text fits the best of the wanted languages by its trigrams: 1 when no known language fits better, and
 * less the better others do. The measure and the tables are franc's.
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

/** The trigrams of a text, sorted; the blanks around words count as letters. */
function groupsOf(text: string): Float64Array {
  const small = text.toLowerCase()
  const groups = new Float64Array(small.length + 2)
  let count = 0
  let beforeThat = BLANK
  let before = BLANK
  for (let at = 0; at <= small.length; at++) {
    const code = at < small.length ? small.charCodeAt(at) : BLANK
    // Digits and ASCII signs separate words as blanks do.
    const unit = code >= 32 && code <= 64 ? BLANK : code
    if (unit === BLANK && before === BLANK) continue
    if (before !== BLANK || beforeThat !== BLANK) groups[count++] = numberOf(beforeThat, before, unit)
    beforeThat = before
    before = unit
  }
  return groups.subarray(0, count).sort()
}

const BLANK = 32

/** A trigram of UTF-16 units as one number. */
const numberOf = (first: number, second: number, third: number): number => (first * 0x10000 + second) * 0x10000 + third
const keyOf = (group: string): number => numberOf(group.charCodeAt(0), group.charCodeAt(1), group.charCodeAt(2))
