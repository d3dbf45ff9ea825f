import { amountsAlike, datesAlike, quantityAlike } from './quantities'

const WH = '(?:what|how|who|whom|whose|why|when|where|which)'
const REQUESTS =
  'tell|explain|show|give|describe|write|list|help|summari[sz]e|translate|find|calculate|compute|convert|define|' +
  'recommend|suggest|compare|create|draft|generate|name|rewrite|check|solve|fix'

/** Ways of saying the same, each in turn; what stands before and after each means the same to everyone. */
const REPHRASED: readonly [RegExp, string][] = [
  // Contractions. `'s` after other words may be a genitive and stays.
  [/\b(can)not\b/gi, '$1 not'],
  [/\bcan't\b/g, 'can not'],
  [/\bwon't\b/g, 'will not'],
  [/\b(do|does|did|is|are|was|were|has|have|had|would|could|should|must|need)n't\b/gi, '$1 not'],
  [/\b(what|how|who|why|when|where|that|it|there|here)'s\b/gi, '$1 is'],
  [/\b(i)'m\b/gi, '$1 am'],
  [/\b(you|we|they|what|who|how|where)'re\b/gi, '$1 are'],
  [/\b(i|you|we|they)'ve\b/gi, '$1 have'],
  [/\b(i|you|we|they|he|she|it|that|what|who)'ll\b/gi, '$1 will'],
  // Asking whether someone can, and meaning that they should.
  [new RegExp(`^(?:can|could|would|will) you (?:please |kindly )?(?=(?:${REQUESTS})\\b)`, 'i'), ''],
  [/^(?:i need|i want|i would like|i'd like) you to (?=\S)/i, ''],
  // Asking for an answer to a question that follows anyway.
  [
    new RegExp(
      `^(?:tell me|let me know|i want to know|i would like to know|i'd like to know|i wonder|i am wondering|` +
        `i was wondering|do you know|any idea|explain to me|please tell me),? (?=${WH}\\b)`,
      'i',
    ),
    '',
  ],
  [/^(what|who|where) (?!is\b|are\b)([^,;]{1,80}) (is|are)$/i, '$1 $3 $2'],
  [
    /(?<=^|, ?)how (?:can|do) (?:i|one)\b(?! (?:look|feel|seem|sound|appear|smell|come|differ|compare|rank|do)\b)/i,
    'how to',
  ],
  [/(?<=^|, ?)how does one\b/i, 'how to'],
  [/^what is the way to\b/i, 'how to'],
  [/^(explain\b.*) to me$/i, '$1'],
  [/^((?:write|translate|summari[sz]e|calculate|convert|rewrite)\b.*) for me$/i, '$1'],
  // Where it is to be, said first or last.
  [/^((?:in|using) \p{Lu}[\p{L}\d.+#]*), ?(how to [^,;]+)$/u, '$2 $1'],
  // Whose it is, before and after.
  [/^(what|who) is ([\p{L}\p{M}]+)'s ((?:\p{Ll}+ ){0,2}\p{Ll}+)$/u, '$1 is the $3 of $2'],
]

/** One spelling for what is written in two ways, and never two words for one thing: whoever asks for a synonym would get the wrong one. */
const SPELLED: Record<string, string> = Object.fromEntries(
  `colour:color colours:colors favourite:favorite behaviour:behavior neighbour:neighbor organise:organize
   summarise:summarize optimise:optimize analyse:analyze visualise:visualize initialise:initialize
   serialise:serialize centre:center grey:gray travelling:traveling cancelled:canceled`
    .split(/\s+/)
    .map((pair) => pair.split(':') as [string, string]),
)

/** Plurals that are not one thing more often, and words that only look like plurals. */
const NO_PLURAL = new Set(
  `news goods means customs arms glasses series species always lens odds savings earnings clothes contents works looks
   shorts pants scales terms times savings stairs thanks colors perhaps besides sometimes does goes has was this
   yes gas bus plus bias alias canvas atlas christmas pass process access class`.split(/\s+/),
)

/** An English text as it would be said by someone who wastes no words. */
export function rephrased(text: string): string {
  const plain = amountsAlike(datesAlike(text))
  return REPHRASED.reduce((said, [from, to]) => said.replace(from, to), plain)
}

const ABOUT_WORDS = new Set(
  `word words letter letters spell spelled spelling spellings synonym synonyms antonym antonyms plural singular grammar
   pronounce pronounced pronunciation rhyme rhymes syllable syllables meaning mean means define definition translate
   translation abbreviation acronym contraction apostrophe punctuation comma capital-letter phrase sentence say said
   proofread correct typo difference`.split(/\s+/),
)

/** Whether a question is about words, or brings a text along: then none of its words may be touched. */
export const isAboutWords = (words: readonly string[]): boolean => words.some((word) => ABOUT_WORDS.has(word))

/** Its words in one spelling. In a question of how to do something it is all one whether it is done to one thing or more. */
export function alike(words: readonly string[]): string[] {
  const said: string[] = []
  for (const word of words) said.push(SPELLED[word] ?? quantityAlike(word, said.at(-1)))
  return said[0] === 'how' && said[1] === 'to' ? said.filter(isNoArticle).map(singular) : said
}

/** `a few` is not `few`. */
const isNoArticle = (word: string, place: number, all: readonly string[]): boolean =>
  word !== 'an' && (word !== 'a' || /^(?:few|little)$/.test(all[place + 1] ?? ''))

function singular(word: string): string {
  if (!/^[a-z]{3,}s$/.test(word) || /(?:ss|us|is|ics)$/.test(word) || NO_PLURAL.has(word)) return word
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return /(?:x|z|ch|sh|ss)es$/.test(word) ? word.slice(0, -2) : word.slice(0, -1)
}
