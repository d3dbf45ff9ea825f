/** Completions: the pipeline from a prompt to a charged, stored and recorded answer, and its native format. */
export { type Ask, DEFAULT_ITERATIONS, type SentImage } from './ask'
export type { CacheChoice, CacheDesk } from './cache-desk'
export { cacheRulesOf, completionSettings, retiredCompletionSettings } from './config'
export { ignoredIn } from './ignored'

export { toChatCompletion } from './present'
export { assertAttachment, assertMetadata } from './rules'
export { type AnswerStream, type CompletionService, createCompletions } from './service'
export { chatFramer } from './stream'
