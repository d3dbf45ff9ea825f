import type { Question, Skill } from './question'

const HOW =
  'To connect a model, the operator sets SVC_ENGINE_BASE_URL, SVC_ENGINE_API_KEY and SVC_ENGINE_MODEL, or runs: svc-admin engines add'

const ABILITIES =
  'The built-in engine calculates, converts units, computes dates, and transforms, summarises and searches the text you send. It also fills in JSON and calls tools.'

const NO_MODEL = 'No language model is connected to this server'
const TO_VISITORS = 'Sorry, I have no answer to that. Please try it in other words.'

/** Whether the built-in engine said that it has no answer. */
export const needsModel = (text: string): boolean => text.startsWith(NO_MODEL) || text === TO_VISITORS

/** The answer to a request that needs a language model: none is connected, and how to connect one. */
export const noModel = ({ mode, forVisitors }: Pick<Question, 'mode' | 'forVisitors'>): string =>
  forVisitors
    ? TO_VISITORS
    : `${NO_MODEL}, so this ${mode === 'fast' || mode === 'auto' ? 'prompt' : `${mode} prompt`} cannot be answered properly. ${ABILITIES}\n\n${HOW}`

const IDENTITY =
  /\b(?:who|what) are you\b|\bwhat (?:can|do) you do\b|\byour (?:name|model)\b|\bare you (?:an? )?(?:ai|a bot|human|chatbot|language model|llm)\b|\bwhich (?:ai )?model\b|^help[.!?]*$/i

const SMALL_TALK =
  /^(?:(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|hallo|hola|bonjour|ciao)\b[\s,]*(?:there|svc|all)?|ping|(?:thanks|thank you|thx|cheers)\b.{0,20})[.!?]*$/i

/** Small talk gets one sentence, which says who is speaking; visitors of a page know of no engine. */
export const greet: Skill = ({ prompt, forVisitors }) => {
  if (!SMALL_TALK.test(prompt)) return null
  return forVisitors
    ? 'Hello, I am an automatic assistant: what would you like to know?'
    : 'Hello from the built-in engine, which is program code and no language model; "help" tells what it can do.'
}

/** Answers questions about itself; the built-in engine is never presented as a language model (docs/design.md 5). */
export const identity: Skill = ({ prompt, forVisitors }) => {
  if (!IDENTITY.test(prompt)) return null
  return forVisitors
    ? 'I am an automatic assistant: ordinary program code, neither a person nor a language model.'
    : `I am the built-in engine of this service: ordinary program code, not a language model. ${ABILITIES}\n\n${HOW}`
}
