import { isForeignAround, isPlainUse, PLACE, type PlainUses } from './profanity-context'
import {
  fits,
  isOfWord,
  nextThree,
  type Spelling,
  spelledOut,
  spellingOf,
  THREES,
  threesOf,
} from './profanity-spelling'
import type { Reading } from './reading'
import type { TextSpan } from './schema'

/**
 * English profanity. `{a,b}` is a choice, `~` before a stem matches inside any word, `*` is a star in place of letters
 * and `?` any sign. All others are whole words, listed with their endings, because stems such as `ass`, `cum` or `anal`
 * begin harmless words of English (`assonance`) and of other languages (`cumprir`, `análise`). Words of medicine and
 * law, birds, first names and names of groups are not rude by themselves and are left out.
 */
const WORDS: readonly string[] = [
  // Stems that no harmless word contains.
  '~f{u,*}ck',
  '~bitch',
  '~nigger',
  '~faggot',
  '~bullshit',
  '~cocksuck',
  '~{blow,hand}job',
  '~gangbang',
  '~dickhead',
  // Spellings that are meant to evade filters.
  '{,mother}f{?ck,vck,*k,uk,ck,u*k,uxk}{in,ing,ed,er,ers}',
  'f{?ck,vck,*k,u*k,uc*,uxk,ucc}{,s}',
  '{mother,cluster,mind}f*k{,s,ed}',
  'fk{in,ing,er,ers}',
  'fkn',
  'f{uk,ck,k} {you,u,off,me,him,her,this,that,it,them,ya}',
  'what the f{uk,ck,k}',
  'ph{u,uc}k{,ed,er,ers,in,ing}',
  '{sh*t,s*t,shyt,bi*ch,b*ch,c*nt,cu*t,sl*t,tw*t,ni*er,n*er,fa*ot}{,s}',
  'a{*,*s,s*}hole{,s}',
  // Insults of two words
  '{shit,cunt,twat,dick,cock,piss,ass,arse,cum}{face,head,hole,bag,hat,wad,wipe}{,s}',
  '{shitlord,shitstain,shitweasel,wankstain,cumdump,cumbucket,cumrag,twatwaffle,assclown}{,s}',
  // Ass, arse
  'ass{,es,lick,licker,lickers,licking,munch,bandit,bandits}',
  '{dumbasshole,dumbassholes,assholery}',
  '{dumb,smart,fat,candy,jack}ass{,es}',
  'lardass',
  '{,smart}arse{,s,d}',
  // Shit
  'shit{,s,y,ty,tier,tiest,ting,ted,ter,ters,e,faced,load,loads,show,shows,eating,eater,cunt,cunts,work}',
  'shit{storm,storms,post,posts,posting,poster,list,less,bird,can,fest,coin,coins}',
  '{horse,dip,bat,ape,dog,chicken,rat,jack,holy}shit{,s}',
  // Of people
  'bastard{,s}',
  '{biatch,beotch,beeotch}{,es}',
  '{,dumb}cunt{,s,y,ing,ed}',
  'fag{,s,gy}',
  'prick{,s}',
  'retard{,s,ed,edness}',
  'libtard{,s}',
  '{,cum}slut{,s,ty,tier,tiest,tish,shaming}',
  'turd{,s}',
  'twat{,s}',
  'wank{,s,ed,er,ers,ing,y}',
  '{,man}whor{e,es,ed,ing,ish}',
  '{knobhead,bellend}{,s}',
  'cuck{,s,ed}',
  'douchebag{,s}',
  // Of what people do
  'piss{,es,ed,er,ers,ing,y,off,take,takes}',
  'cum{,s,ming,shot,shots}',
  'jizz{,ed,ing}',
  'blow job{,s}',
  '{rim,lube}job{,s}',
  '{jerk,jack}{,ing}{, }off',
  'suck my {dick,cock,balls}',
  '{deepthroat,fingerbang,felch}{,s,ed,ing,es}',
  'finger bang{,ed,ing}',
  'fisting',
  'dildo{,s,es}',
  'dog{gy,gie}{, }style',
  'double penetration',
  // Of bodies
  'bollock{,s,ed,ing,ings}',
  'boob{,s,ies}',
  'puss{y,ies}',
  'tit{ties,fuck}',
  'tiddies',
  // Of groups
  'nigg{a,as,az,ah}',
  'nig{,s}',
  'kike{,s}',
  'chink{,s}',
  'ching{, ,-}chong{,s}',
  'trann{y,ies}',
  '{africoon,boonga}{,s}',
  'arabush',
  'abbo{,s}',
]

/** Also matched when spelled letter by letter, with anything in between: `f-u-c-k`. */
const SPELLED = ['fuck', 'shit', 'bitch', 'cunt', 'nigger', 'nigga', 'asshole', 'whore', 'slut', 'faggot', 'wanker']

/** Matched only with a sign or digit in place of a letter: `f@ck` reads as `fack`, which means something else. */
const FIGURES: readonly string[] = ['f{a,e,i,o}ck{,s,ed,er,ers,in,ing}']

/** Harmless words that contain a stem of the list, or resemble one of its words with a doubled letter. */
const ENGLISH_PLAIN_WORDS: readonly string[] = [
  'snigger{,s,ed,er,ers,ing,ingly}',
  'bitche',
  'kikke{,s}',
  'slutt',
  'shiite{,s}',
  'aass',
  'assess',
  'twatt',
]

/** Harmless English uses of words of the list. */
const PLAIN_USES: PlainUses = {
  arse: /\bword "?\[/,
  ass: /\.\[|(?:wild|pack|somali|nubian|asiatic) \[|\b(?:rode|rides?|riding|jerusalem) on an? \[|\b(?:donkey|ox|horse|mule) (?:and|or) (?:an |the )?\[|\][ -](?:dur|moll)\b|\]\.(?::|[ -]?(?:prof|jur|dir|manager|coach|editor))/,
  asses: /(?:wild|pack|of) \[/,
  bastard: /\bwilliam the \[|\] (?:of (?:normandy|orleans)|files?|swords?|titles?|toadflax|wing|amber)\b/,
  bitch:
    /\[bitch\] (?:whelp|is in (?:heat|season)|was (?:bred|mated|spayed|in (?:heat|season))|had \w+ (?:pups|puppies)|and her (?:pups|puppies|litter))|\b(?:brood|champion|spayed|pregnant|breeding|nursing|labrador|terrier|spaniel|retriever|shepherd|collie) \[bitch\]/,
  boobies: /(?:footed|brown|masked|peruvian|nazca) \[|\] (?:of the gal[aá]pagos|nest|dive)\b/,
  chink: /\] (?:in|of|through|between)\b/,
  chinks: /\] (?:in|of|through|between)\b/,
  cum: /-\[cum\]-|\[cum\] (?:laude|suis|dividend|div|rights|grano|testamento)\b/,
  cumming: /\balan \[|\], (?:georgia|ga)\b/,
  dildo: PLACE,
  fag: /\b(?:smok(?:e|ed|es|ing)|lit|lights?|lighting) (?:a|his|her|my|one|another) \[|\] (?:end|packet|break)s?\b/,
  faggot: /\] (?:of (?:sticks|wood|twigs|iron|brushwood)|and peas)\b|\bbundles? of \[/,
  fuck: /\b(?:village|hamlet) of \[fucking\]|\[fucking\], (?:upper )?austria\b/,
  jackass:
    /\] (?:penguin|rabbit|brig|barque)s?\b|\[jackass\] is an? (?:male )?(?:donkey|animal)\b|\b(?:male|laughing) \[/,
  kike: /\]"? hernandez\b/,
  prick:
    /\] (?:the|it|them|each|all|your|his|her|my|with|up|holes|tests?|testing|of (?:the |a |an )?(?:needle|pin|thorn|conscience|syringe|lancet))\b|(?:pin|skin|needle|finger) \[/,
  pricks: /\] (?:the|it|them|each|all|your|his|her|my|with|up|of (?:the )?(?:needle|conscience)s?)\b/,
  pussy: /\][ -](?:cats?|willows?|riot|foot)\b/,
  retard: /\] (?:the|its|their|growth|progress|development|ignition)\b|\bto \[/,
  retarded: /\] (?:potentials?|time|growth|ignition|greens?)\b/,
  wank: /\b(?:mount|(?:up|down|climb|hike|summit of|top of) the) \[|\] (?:mountain|cable car|summit|railway)\b/,
}

/** Words that are harmless in other languages. */
const ENGLISH_PLAIN_ELSEWHERE: readonly string[] = `
  ass asses arse arses cum fag fags kike kikes nig nigs prick pricks retard retards shite slut sluts wank abbo
  abbos turd bellend fuker fukers shiit shiits`
  .trim()
  .split(/\s+/)

const ENGLISH = {
  WORDS,
  SPELLED,
  FIGURES,
  PLAIN_WORDS: ENGLISH_PLAIN_WORDS,
  PLAIN_USES,
  PLAIN_ELSEWHERE: ENGLISH_PLAIN_ELSEWHERE,
}

/** Maximum number of letters of a word read on either side of a stem. */
const MAX_LETTERS = 40
/** This many characters around a stem, with digits among them, are a key or data and not a word. */
const MIN_OF_DATA = 16
/** In words this short, digits make a name and not a spelling: `A55`, `F4G`. */
const FEW_LETTERS = 3
/** Colours, digests and ids that resemble words. */
const HEXADECIMAL = /^[a-f]*[0-9][0-9a-f]*$/

const PLAIN_WORDS = new Set(ENGLISH.PLAIN_WORDS.flatMap(expanded))
const PLAIN_ELSEWHERE = new Set(ENGLISH.PLAIN_ELSEWHERE)

/** Compiled with the first policy, and shared by all. */
let known: Starts | undefined

/** English profanity in all its spellings: digits for letters, letters repeated, replaced by signs or separated. */
export function compileEnglish(): (view: Reading) => TextSpan[] {
  known ??= startsOf(spellings())
  const { starts, byThree } = known
  return (view) => {
    const { text } = view.letters ?? view
    const found: TextSpan[] = []
    let seen = 0
    for (const at of candidatesIn(text, starts)) {
      if (at < seen) continue
      const span = firstOf(byThree.get(threeAt(text, at))!, text, at, view)
      if (!span) continue
      found.push(span)
      seen = span.end
    }
    return found
  }
}

const spellings = (): Spelling[] => [
  ...ENGLISH.WORDS.flatMap(expanded).map((one) => spellingOf(one)),
  ...ENGLISH.FIGURES.flatMap(expanded).map((one) => spellingOf(one, true)),
  ...ENGLISH.SPELLED.map(spelledOut),
]

function firstOf(spellings: readonly Spelling[], text: string, at: number, view: Reading): TextSpan | null {
  for (const spelling of spellings) {
    const end = endOf(spelling, text, at, view)
    const span = end < 0 ? null : spanOf(spelling, { start: at, end }, view)
    if (span && isMeant(spelling, span, view)) return span
  }
  return null
}

/** Whether a word with these first three units also counts inside other words, or only at the start of one. */
const ANYWHERE = 1
const AT_WORDS = 2

/** The spellings by their first three units, the longest first. */
type Starts = { starts: Uint8Array; byThree: ReadonlyMap<number, readonly Spelling[]> }

function startsOf(spellings: readonly Spelling[]): Starts {
  const starts = new Uint8Array(THREES)
  const byThree = new Map<number, Spelling[]>()
  for (const spelling of spellings.toSorted((a, b) => b.units.length - a.units.length)) {
    for (const three of threesOf(spelling)) {
      starts[three]! |= spelling.isWhole ? AT_WORDS : ANYWHERE
      const same = byThree.get(three)
      if (same) same.push(spelling)
      else byThree.set(three, [spelling])
    }
  }
  return { starts, byThree }
}

/** The possible starts of listed words, by the first three units there. A repeated unit counts as one. */
function candidatesIn(text: string, starts: Uint8Array): number[] {
  const candidates: number[] = []
  let three = 0
  let code = -1
  let index = -1
  let before = -1
  // Goes one past the end, read as 0, so that a word of two letters may be the last.
  for (let at = 0; at <= text.length; at++) {
    // `charCodeAt` past the end makes the whole loop several times slower.
    const next = at < text.length ? text.charCodeAt(at) : 0
    if (next === code) continue
    code = next
    three = nextThree(three, code)
    const how = starts[three]!
    if (how !== 0 && before >= 0 && (how & ANYWHERE || !isOfWord(text.charCodeAt(before - 1)))) candidates.push(before)
    before = index
    index = at
  }
  return candidates
}

function threeAt(text: string, at: number): number {
  let three = 0
  for (let index = at, left = 3; left > 0; left--) {
    three = nextThree(three, text.charCodeAt(index) | 0)
    index = runEnd(text, index)
  }
  return three
}

/** The end of a run of one unit. */
function runEnd(text: string, at: number): number {
  const code = text.charCodeAt(at)
  let end = at + 1
  while (end < text.length && text.charCodeAt(end) === code) end++
  return end
}

/** The end of the spelling if it matches at `at`, with its doubled letters and word boundaries. Else -1. */
function endOf(spelling: Spelling, text: string, at: number, view: Reading): number {
  let end = at
  for (let index = 0; index < spelling.units.length; index++) {
    if (!fits(spelling, index, text.charCodeAt(end) | 0)) return -1
    const next = runEnd(text, end)
    if (next - end < spelling.minLengths[index]!) return -1
    end = next
  }
  return spelling.isWhole && (isOfWord(text.charCodeAt(at - 1)) || !endsWord(view.text, end)) ? -1 : end
}

const NO_MORE_LETTERS = /[0-9]*(?![a-z0-9\u00c0-\u024f])/y

/** Digits after a word are not part of it. */
function endsWord(text: string, at: number): boolean {
  NO_MORE_LETTERS.lastIndex = at
  return NO_MORE_LETTERS.test(text)
}

/** The range of a match. For a stem it is the whole word around it, or null in the middle of data. */
function spanOf({ isWhole }: Spelling, stem: TextSpan, { text }: Reading): TextSpan | null {
  if (isWhole) return stem
  const first = Math.max(0, stem.start - MAX_LETTERS)
  const last = Math.min(text.length, stem.end + MAX_LETTERS)
  let { start, end } = stem
  while (start > first && isOfWord(text.charCodeAt(start - 1))) start--
  while (end < last && isOfWord(text.charCodeAt(end))) end++
  const rest = text.slice(start, stem.start) + text.slice(stem.end, end)
  if (rest.length >= MIN_OF_DATA && /[0-9]/.test(rest)) return null
  const isWord = (start > first || first === 0) && (end < last || last === text.length)
  return isWord ? { start, end } : stem
}

/** False for a harmless word with the same spelling, in English or in the language around it. */
function isMeant({ term, isFigured }: Spelling, span: TextSpan, view: Reading): boolean {
  const word = view.text.slice(span.start, span.end)
  if (PLAIN_WORDS.has(word)) return false
  if (isFigured && !/[^a-z]/.test(word)) return false
  if (HEXADECIMAL.test(word) || (term.length <= FEW_LETTERS && /[0-9]/.test(word))) return false
  if (isPlainUse(ENGLISH.PLAIN_USES, term, view.text, span)) return false
  return !((PLAIN_ELSEWHERE.has(term) || PLAIN_ELSEWHERE.has(word)) && isForeignAround(view.text, span, ['en']))
}

/** All words that a notation with choices represents. */
function expanded(notation: string): string[] {
  const choice = /\{([^{}]*)\}/.exec(notation)
  if (!choice) return [notation]
  const [all, inner] = choice
  return inner!.split(',').flatMap((one) => expanded(notation.replace(all, one)))
}
