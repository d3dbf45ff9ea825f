/** What a prompt is by how it opens. */
export type Kind = 'question' | 'request'

/**
 * A prompt without greeting and politeness. A `polite` one may end like a question as well as like an order; in a
 * `spaced` one the question mark may stand behind a blank, as it does in French.
 */
export type Opening = { text: string; kind: Kind; polite: boolean; spaced: boolean }

const THE = '(?:the|a|an|my|your|this)'
const BE = 'is|are|was|were'

/**
 * First words of a question that cannot be a name together with the word that follows, so their capital means nothing:
 * `WHO is` and `Who albums` do not match, and `May` is not listed. Each ends with a blank.
 */
const ASKING = [
  `(?:what|who|where|when|why|how|which) (?:${BE}|do|does|did|can|could|should|would|will|has|have|had) `,
  'how (?:to|many|much|long|often|old|far) ',
  `(?:${BE}|does|did|could|should|would) (?:I|you|we|they|he|she|it|there) `,
  '(?:can|do) (?:I|you|we|they|he|she) ',
].join('|')

const ASKING_ELSEWHERE = [
  '(?:was|wer|wie|wo|wann|warum) (?:ist|sind|war|waren|hat|haben|kann|muss|wird|heißt|viele?|lange|alt|weit) ',
  '(?:qué|cuál|cuáles|quién|dónde|cuándo|cómo) (?:es|son|era|está|están|fue|hay|puedo) ',
  '(?:cosa|chi|dove|quando|come|qual|quali|perché) (?:è|sono|era|erano|si|posso) ',
  '(?:o que|qual|quais|quem|onde|quando|como) (?:é|são|era|está|foi|posso) ',
  '(?:wat|wie|waar|wanneer|waarom|hoe) (?:is|zijn|was|waren|kan|moet|werkt|veel|lang|oud) ',
].join('|')
const ASKING_IN_FRENCH = '(?:quel|quelle|quels|quelles|qui|où|comment|pourquoi|quand) (?:est|sont|était|étaient|faire) '

/** First words of orders that bring no text along to work on. */
const ORDERING = [
  'explain|describe|summari[sz]e|calculate|compare|convert \\d\\S*|(?:tell|give|show) me',
  '(?:write|recommend|suggest) (?:a|an|the)',
].join('|')
const ORDERING_ELSEWHERE = 'erkläre|beschreibe|explique|décris|explica|spiega|descrivi|descreva|beschrijf'

const QUESTION = new RegExp(`^(?:${ASKING})`, 'u')
const REQUEST = new RegExp(`^(?:${ORDERING}) `, 'u')
const QUESTION_ELSEWHERE = new RegExp(`^(?:${ASKING_ELSEWHERE})`, 'u')
const QUESTION_IN_FRENCH = new RegExp(`^(?:${ASKING_IN_FRENCH})`, 'u')
const REQUEST_ELSEWHERE = new RegExp(`^(?:${ORDERING_ELSEWHERE}) `, 'u')

const GREETING = /^(?:hello|hi|hey)(?: there)?[,!] /u
const ASKED_FOR =
  /^(?:please |(?:can|could|would) you please |(?:can|could) you |i (?:want|need|would like) you to |i'd like you to )/u
const TELL_ME = /^tell me /u

/** Two ways of saying the same at the beginning of a prompt. */
const RESPELLED: readonly [RegExp, string][] = [
  [new RegExp(`^(what|who|where|when|how)['’]s (?=${THE} )`, 'u'), '$1 is '],
  [
    new RegExp(
      `^how (?:do|can) I (?=(?:install|uninstall|update|sort|boil|bake|create|build|convert|delete|rename|configure) ${THE} )`,
      'u',
    ),
    'how to ',
  ],
  [/^summarise /u, 'summarize '],
]

/** The opening of a prompt, in lower case and in one spelling; null when it opens in no known way. */
export function openingOf(text: string): Opening | null {
  const plain = respelled(lowerFirst(text))
  const elsewhere = { text: plain, polite: false, spaced: false }
  if (QUESTION_IN_FRENCH.test(plain)) return { ...elsewhere, kind: 'question', spaced: true }
  if (QUESTION_ELSEWHERE.test(plain)) return { ...elsewhere, kind: 'question' }
  if (REQUEST_ELSEWHERE.test(plain)) return { ...elsewhere, kind: 'request' }
  return englishOpening(respelled(lowerFirst(lowerFirst(text).replace(GREETING, ''))))
}

/** What follows politeness must open in a known way itself, in lower case: `Please Explain` may be a title. */
function englishOpening(plain: string): Opening | null {
  const wish = respelled(plain.replace(ASKED_FOR, ''))
  const question = respelled(wish.replace(TELL_ME, ''))
  if (QUESTION.test(question) && (question === plain || question !== wish))
    return { text: question, kind: 'question', polite: question !== plain, spaced: false }
  return REQUEST.test(wish) ? { text: wish, kind: 'request', polite: wish !== plain, spaced: false } : null
}

const respelled = (text: string): string => RESPELLED.reduce((said, [from, to]) => said.replace(from, to), text)

const lowerFirst = (text: string): string => `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`
