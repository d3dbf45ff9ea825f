export type Language = 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'nl'

/** Words that hardly any text of a language does without, and that say nothing in the others. */
const COMMON: Record<Language, string> = {
  en: 'the of to and is are what how who why when where which do does did can could would should i you my me please not with from it this that an for about explain write give tell show describe summarize find compare create',
  de: 'der die das und ist sind was wie wer warum wann wo welche ein eine ich du mein bitte nicht mit von zu für auf den dem',
  fr: 'le la les des et est sont quel quelle comment qui pourquoi quand où un une je tu mon ne pas avec du pour sur que',
  es: 'el la los las y es son qué que cómo quién por cuándo dónde un una yo mi no con del para en cuál',
  it: 'il lo la gli e è sono che come chi perché quando dove un una io mio non con di del per qual',
  pt: 'o a os as e é são que como quem por quando onde um uma eu meu não com do da para em qual',
  nl: 'de het een en is zijn wat hoe wie waarom wanneer waar ik je mijn niet met van voor op naar',
}

const languages = Object.entries(COMMON).map(([language, words]) => ({
  language: language as Language,
  words: new Set(words.split(' ')),
}))

/** Words that open a sentence and are nobody's name: the capital of any other may be one. */
const OPENERS = new Set([
  ...Object.values(COMMON).flatMap((words) => words.split(' ')),
  ...`calculate compute convert define draft generate help kindly list name please recommend rewrite suggest summarise
     translate in on if is don isn aren doesn didn won couldn shouldn there`.split(/\s+/),
])

export const opensSentence = (word: string): boolean => OPENERS.has(word)

/** The one language that clearly has most of these words (lower case); null when none or two have. */
export function languageOf(words: readonly string[]): Language | null {
  const scores = languages
    .map(({ language, words: common }) => ({ language, score: words.filter((word) => common.has(word)).length }))
    .sort((a, b) => b.score - a.score)
  const [best, second] = scores as [(typeof scores)[number], (typeof scores)[number]]
  return best.score > second.score ? best.language : null
}

/** What people say for politeness around what they want. It changes nothing of what they want. */
const GREETINGS =
  'hi|hello|hey|hi there|hello there|good morning|good evening|ok|okay|thanks|hallo|guten tag|guten morgen|bonjour|' +
  'salut|hola|buenos días|buenas tardes|ciao|salve|buongiorno|olá|oi|bom dia|boa tarde|hoi|goedendag'
const PLEASES = 'please|kindly|bitte|por favor|per favore|per piacere|graag|alsjeblieft'
const ENDINGS =
  'please|thanks|thank you|thanks a lot|many thanks|thx|thank you very much|thanks in advance|bitte|danke|vielen dank|' +
  "s'il vous plaît|s'il te plaît|merci|merci beaucoup|merci d'avance|svp|por favor|gracias|muchas gracias|" +
  'per favore|per piacere|grazie|grazie mille|obrigado|obrigada|alsjeblieft|alstublieft|bedankt|dank je|dank u'

const BEFORE = new RegExp(`^(?:(?:${GREETINGS})[,!.]+\\s*)*(?:(?:${PLEASES})(?:\\s+|,\\s*))?(?=\\S)`, 'iu')
const AFTER = new RegExp(`[,.!?]\\s*(?:${ENDINGS})[\\s!.?]*$`, 'iu')

/** A text without its greeting and thanks, each set off by a mark: `How do I say thanks` keeps its last word. */
export const withoutPoliteness = (text: string): string => text.replace(BEFORE, '').replace(AFTER, '')
