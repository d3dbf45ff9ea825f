/** Completions: the pipeline from a prompt to a charged, stored and recorded answer, and its native format. */

export { cacheRulesOf } from './config'
export { ignoredIn } from './ignored'
export { toChatCompletion } from './present'
export { type CompletionRequest, DEFAULT_ITERATIONS, requestFromOrder, type SentImage } from './request'
export { assertAttachment, assertMetadata, assertOrder, base64Of } from './rules'
export type { Progress } from './run'
export type { CacheChoice, CacheReading } from './service'
export { type AnswerStream, type CompletionService, createCompletions } from './service'
export { OPENING_MS } from './stages/show'
export { chatFramer, nativeFramer } from './stream'
