/** What a prompt that opens in a known way is. */
export type Kind = 'question' | 'request'

/** How a prompt opens. `polite`: it was asked for, so it may end like a question as well as like an order. */
export type Opened = { said: string; kind: Kind; polite: boolean }

const THE = '(?:the|a|an|my|your|this)'
const BE = 'is|are|was|were'

/**
 * First words that with what comes next are nobody's name, so that their capital says nothing. In small letters:
 * `WHO is` does not open like `who is`, nor does `Who albums`, and `May` is in no list. After each comes a blank.
 */
const ASKING = [
  `(?:what|who|where|when|why|how|which) (?:${BE}|do|does|did|can|could|should|would|will|has|have|had) `,
  'how (?:to|many|much|long|often|old|far) ',
  `(?:${BE}|does|did|could|should|would) (?:I|you|we|they|he|she|it|there) `,
  '(?:can|do) (?:I|you|we|they|he|she) ',
].join('|')

const ASKING_ELSEWHERE = [
  '(?:was|wer|wie|wo|wann|warum) (?:ist|sind|war|waren|hat|haben|kann|muss|wird|heißt|viele?|lange|alt|weit) ',
  '(?:quel|quelle|quels|quelles|qui|où|comment|pourquoi|quand) (?:est|sont|était|étaient|faire) ',
  '(?:qué|cuál|cuáles|quién|dónde|cuándo|cómo) (?:es|son|era|está|están|fue|hay|puedo) ',
  '(?:cosa|chi|dove|quando|come|qual|quali|perché) (?:è|sono|era|erano|si|posso) ',
  '(?:o que|qual|quais|quem|onde|quando|como) (?:é|são|era|está|foi|posso) ',
  '(?:wat|wie|waar|wanneer|waarom|hoe) (?:is|zijn|was|waren|kan|moet|werkt|veel|lang|oud) ',
].join('|')

/** Orders that are about something, and bring no text along to work on. */
const ORDERING = [
  'explain|describe|summari[sz]e|calculate|compare|convert \\d\\S*|(?:tell|give|show) me',
  '(?:write|recommend|suggest) (?:a|an|the)',
].join('|')
const ORDERING_ELSEWHERE = 'erkläre|beschreibe|explique|décris|explica|spiega|descrivi|descreva|beschrijf'

const QUESTION = new RegExp(`^(?:${ASKING})`, 'u')
const REQUEST = new RegExp(`^(?:${ORDERING}) `, 'u')
const QUESTION_ELSEWHERE = new RegExp(`^(?:${ASKING_ELSEWHERE})`, 'u')
const REQUEST_ELSEWHERE = new RegExp(`^(?:${ORDERING_ELSEWHERE}) `, 'u')

const GREETING = /^(?:hello|hi|hey)(?: there)?[,!] /u
const ASKED_FOR =
  /^(?:please |(?:can|could|would) you please |(?:can|could) you |i (?:want|need|would like) you to |i'd like you to )/u
const TELL_ME = /^tell me /u

/** The few things that are said in two ways at the beginning of a question. */
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

/** A prompt without politeness, opening with a small letter and in one spelling; null where it opens in no known way. */
export function opened(text: string): Opened | null {
  const plain = respelled(lowerFirst(text))
  if (QUESTION_ELSEWHERE.test(plain)) return { said: plain, kind: 'question', polite: false }
  if (REQUEST_ELSEWHERE.test(plain)) return { said: plain, kind: 'request', polite: false }
  return openedInEnglish(respelled(lowerFirst(lowerFirst(text).replace(GREETING, ''))))
}

/** What follows politeness must open in a known way of its own, in small letters: `Please Explain` may be a title. */
function openedInEnglish(plain: string): Opened | null {
  const wish = respelled(plain.replace(ASKED_FOR, ''))
  const question = respelled(wish.replace(TELL_ME, ''))
  if (QUESTION.test(question) && (question === plain || question !== wish))
    return { said: question, kind: 'question', polite: question !== plain }
  return REQUEST.test(wish) ? { said: wish, kind: 'request', polite: wish !== plain } : null
}

const respelled = (text: string): string => RESPELLED.reduce((said, [from, to]) => said.replace(from, to), text)

const lowerFirst = (text: string): string => `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`
