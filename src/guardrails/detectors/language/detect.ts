import type { francAll } from 'franc'

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

/** The tables are read with the first text that needs them. */
let detector: typeof francAll | undefined

/**
 * How well a text fits the best of some languages (ISO 639-1), by trigrams: 1 when it fits none of all known
 * ones better, less the worse.
 */
export function fitOf(text: string, languages: readonly string[]): number {
  detector ??= (require('franc') as typeof import('franc')).francAll
  const wanted = new Set(languages.map((language) => CODES.get(language)!))
  for (const alike of ALIKE) if (alike.some((code) => wanted.has(code))) for (const code of alike) wanted.add(code)
  const fits = detector(text, { only: KNOWN, minLength: 1 }).filter(([code]) => wanted.has(code))
  return Math.max(0, ...fits.map(([, fit]) => fit))
}
