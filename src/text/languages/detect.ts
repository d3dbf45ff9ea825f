import type * as Franc from 'franc'

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

/** Language codes of the detector. */
export type Wanted = ReadonlySet<string>

/** Languages (ISO 639-1, all known) with those that cannot be told from one of them. */
export function wantedOf(languages: readonly string[]): Wanted {
  const codes = new Set(languages.map((language) => CODES.get(language)!))
  for (const alike of ALIKE) if (alike.some((code) => codes.has(code))) for (const code of alike) codes.add(code)
  return codes
}

/**
 * How well a text fits the best of the wanted languages by its trigrams: 1 when no known language fits better, and
 * less the better others do; 0 where the detector knows none of them in the text's script.
 */
export function fitOf(text: string, wanted: Wanted): number {
  const { francAll } = require('franc') as typeof Franc
  return francAll(text, { only: KNOWN }).find(([language]) => wanted.has(language))?.[1] ?? 0
}

/** The language (ISO 639-1) that fits a text best by its trigrams; null where none does. */
export function likeliest(text: string): string | null {
  const { franc } = require('franc') as typeof Franc
  const code = franc(text, { only: KNOWN })
  return CODES.entries().find(([, known]) => known === code)?.[0] ?? null
}
