import type { TextSpan } from './schema'

/** Function words by language, without accents. They identify the language of the few words around a match. */
const SMALL_WORDS: Readonly<Record<string, string>> = {
  en: 'the and of is are was were you your it that this to in a i my me he she they we with for be not what such so no just like get on at all his her an or as by have has do don im from if u up',
  de: 'der die das und ist ein eine nicht ich du wir mit fur auf den im in von zu es sich auch wie was hat kein dem des am ihr er sie aus bei mein hier noch',
  fr: 'le la les des du de un une est et en dans pour vous je pas qui que sur avec nous au aux ce son ma mon sans il elle a cette plus',
  es: 'el la los las de que y en un una es por con para no se su del lo al como mas mi tu a esta este son muy eres',
  pt: 'o os as de que e em um uma por com para nao se do da dos das no na como mais meu seu ao esta a voce sao foi',
  it: 'il lo la gli le di che e i in un una per con non si del della nel mi ti come piu sono a da al sei dei alla',
  ca: 'el la els les de que i en un una es per amb no del al dels mes si a l d',
  nl: 'de het een van en in is dat op te met voor niet zijn aan er ook ik je we wat die naar maar om uit heeft',
  sv: 'och att det ar som inte en ett pa av jag du vi med till har den for de om i min din kan ska nu efter nar hur vad fran till',
  da: 'og at det er som ikke en et pa af jeg du vi med til har den for de om i min din kan skal efter nar hvad hvordan fra',
  no: 'og at det er som ikke en et pa av jeg du vi med til har den for de om i min din kan skal etter nar hva hvordan fra eg ein eit',
  pl: 'i w na z do nie sie to jest ze o jak co czy ten ta po od dla przez',
  cs: 'a je to na se v ze s do ne jak co i pro by za si jsem od po',
  hr: 'je i u na se da za su od ne to kako sam sto koji iz po do dva tri nekoliko prvi',
  tr: 'bir ve bu da de icin ile ne mi cok en var ben sen daha gibi',
  ro: 'si de la in nu ca este un o pe cu care ce sa din mai eu se pot fac imi il am',
  hu: 'a az es egy nem hogy is van ez meg mint de volt',
  la: 'et in est ad non ut sed qui quae quod ab per ex',
  vi: 'la va cua cho khong duoc mot nhung trong voi cac co tren nay den toi la gi hay bang ban de tu thanh',
  tl: 'ang ng mga sa na ako ay ko mo ka si at ito',
  ja: 'wo wa ga ni no de desu masu kudasai te mo ka to kore sore nani imasu',
}

const LANGUAGES = Object.keys(SMALL_WORDS)
/** By word: the indexes in LANGUAGES of the languages that contain it. */
const INDEXES_OF = new Map<string, number[]>()
for (const [index, words] of Object.values(SMALL_WORDS).entries()) {
  for (const word of new Set(words.split(' '))) INDEXES_OF.set(word, [...(INDEXES_OF.get(word) ?? []), index])
}
const NONE: readonly number[] = []

/** The name of a place: `the village of X`, `X, Austria`. An insult may stand before a country without a comma. */
export const PLACE =
  /\b(?:village|town|city|hamlet|parish|island|residents|people) of \[|\], (?:newfoundland|canada|austria|bavaria|germany|italy|umbria|orkney|shetland|dorset|scotland|england|wales|ireland)\b|\] (?:is|è) (?:a|un|una) (?:small )?(?:town|village|hamlet|paese|frazione)\b/

/** Number of characters around a match used to detect its language, and beside it to detect its use. */
const CHARS_AROUND = 80
const CHARS_BESIDE = 24
const NO_LETTERS = /[^a-z]+/

/** By word, a pattern of its harmless uses over `before[word]after`. */
export type PlainUses = Readonly<Record<string, RegExp>>

export function isPlainUse(uses: PlainUses, term: string, text: string, { start, end }: TextSpan): boolean {
  const use = uses[term]
  if (!use) return false
  const before = text.slice(Math.max(0, start - CHARS_BESIDE), start)
  return use.test(`${before}[${text.slice(start, end)}]${text.slice(end, end + CHARS_BESIDE)}`)
}

/** Whether the words around a match are in a language other than `languages`. False if they do not tell. */
export function isForeignAround(text: string, { start, end }: TextSpan, languages: readonly string[]): boolean {
  const around = `${text.slice(Math.max(0, start - CHARS_AROUND), start)} ${text.slice(end, end + CHARS_AROUND)}`
  const counts = LANGUAGES.map(() => 0)
  for (const word of around.split(NO_LETTERS)) for (const index of INDEXES_OF.get(word) ?? NONE) counts[index]!++
  return Math.max(...counts) > Math.max(...languages.map((one) => counts[LANGUAGES.indexOf(one)] ?? 0))
}
