/** The way of a prompt to its answer: completions, chat format, voice and the agent loop. */
export { fitHistory } from './agent-history'
export { type Agent, createAgent } from './agent-loop'
export { assembleSystem, createSandbox, type Sandbox, type Voice } from './agent-sandbox'
export { modeOfCall } from './agent-turn'
export { formOfSchema } from './chat-from-wire'
export { createChat } from './chat-routes'
export { cacheRulesOf } from './config'
export { ignoredIn } from './ignored'
export { toChatCompletion } from './present'
export { type CompletionRequest, DEFAULT_ITERATIONS, requestFromOrder, type SentImage } from './request'
export { assertAttachment, assertMetadata, assertOrder, base64Of } from './rules'
export type { Progress } from './run'
export {
  type AnswerStream,
  type CacheChoice,
  type CacheReading,
  type CompletionService,
  createCompletions,
} from './service'
export { OPENING_MS } from './stages/show'
export { chatFramer, nativeFramer } from './stream'
export { createVoice } from './voice'
