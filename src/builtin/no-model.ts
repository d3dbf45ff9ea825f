import type { Question, Skill } from './question'

const HOW =
  'To connect a model, the operator sets SVC_ENGINE_BASE_URL, SVC_ENGINE_API_KEY and SVC_ENGINE_MODEL, or runs: svc-admin engines add'

const ABILITIES =
  'Without one, the built-in engine can calculate, convert units, reckon with dates, transform, summarise and search the text you send, fill in JSON, and write small pieces of code from templates.'

/** The answer to a request that needs a language model: that none is connected, and how to connect one. */
export const noModel = ({ mode }: Pick<Question, 'mode'>): string =>
  `No language model is connected to this server, so this ${mode === 'fast' || mode === 'auto' ? 'prompt' : `${mode} prompt`} cannot be answered properly. ${ABILITIES}\n\n${HOW}`

const IDENTITY =
  /\b(?:who|what) are you\b|\bwhat (?:can|do) you do\b|\byour (?:name|model)\b|\bare you (?:an? )?(?:ai|a bot|human|chatbot|language model|llm)\b|\bwhich (?:ai )?model\b|^help[.!?]*$/i

/** Answers questions about itself; the built-in engine is never presented as a language model (design 5). */
export const identity: Skill = ({ prompt }) =>
  IDENTITY.test(prompt)
    ? `I am the built-in engine of this service: ordinary program code, not a language model. ${ABILITIES.replace('Without one, the built-in engine', 'I')}\n\n${HOW}`
    : null
