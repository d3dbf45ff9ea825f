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

/** The ranks of every group of letters, one a language: a text is held against all languages with one look a group. */
type Ranks = { languages: readonly string[]; ranks: ReadonlyMap<number, Uint16Array> }
const read = new Map<Script, Ranks>()

/** The tables are read with the first text that needs them. */
function ranksOf(script: Script): Ranks {
  const known = read.get(script)
  if (known) return known
  const { data } = require('franc/data.js') as typeof Tables
  const all = Object.entries(data[TABLES[script] ?? ''] ?? {}).filter(([language]) => KNOWN.includes(language))
  const ranks = new Map<number, Uint16Array>()
  for (const [place, [, groups]] of all.entries()) {
    for (const [rank, group] of groups.split('|').entries()) {
      ranks.getOrInsertComputed(keyOf(group, 0), () => new Uint16Array(all.length).fill(ABSENT))[place] = rank + 1
    }
  }
  const made = { languages: all.map(([language]) => language), ranks }
  read.set(script, made)
  return made
}

/**
 * How well a text fits the best of some languages (ISO 639-1), by groups of three letters: 1 when it fits none of
 * all known ones better, less the worse. The measure is franc's, and so are its tables.
 */
export function fitOf(text: string, script: Script, wanted: readonly string[]): number {
  const { languages, ranks } = ranksOf(script)
  const codes = new Set(wanted.map((language) => CODES.get(language)!))
  for (const alike of ALIKE) if (alike.some((code) => codes.has(code))) for (const code of alike) codes.add(code)
  const distances = new Float64Array(languages.length)
  let absent = 0
  for (const [group, count] of groupsOf(text)) {
    const each = ranks.get(group)
    if (each) addTo(distances, each, count)
    else absent += MOST_RANK
  }
  for (let place = 0; place < distances.length; place++) distances[place]! += absent
  const least = Math.min(...distances)
  const own = Math.min(...distances.filter((_, place) => codes.has(languages[place]!)))
  return Math.max(0, 1 - (own - least) / (text.length * MOST_RANK - least) || 0)
}

function addTo(distances: Float64Array, ranks: Uint16Array, count: number): void {
  for (let place = 0; place < distances.length; place++) {
    const rank = ranks[place]!
    distances[place]! += rank === ABSENT ? MOST_RANK : Math.abs(count - rank)
  }
}

/** Every three letters that stand together, blanks around words with them, and how often. */
function groupsOf(text: string): Map<number, number> {
  const plain = ` ${text
    .replace(/[!-@]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase()} `
  const counts = new Map<number, number>()
  for (let at = 0; at + 3 <= plain.length; at++) {
    const group = keyOf(plain, at)
    counts.set(group, (counts.get(group) ?? 0) + 1)
  }
  return counts
}

/** Three units as one number. */
const keyOf = (text: string, at: number): number =>
  (text.charCodeAt(at) * 0x10000 + text.charCodeAt(at + 1)) * 0x10000 + text.charCodeAt(at + 2)
