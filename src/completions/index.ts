/** The way of a prompt to its answer: completions, chat format, voice and the agent loop. */
export { createAgent, fitHistory } from './agent-loop'
export { assembleSystem, createSandbox, type Sandbox, type Voice } from './agent-sandbox'
export { modeOfCall } from './agent-turn'
export { formOfSchema, requestFromChat } from './chat-from-wire'
export { endUserOf, samplingOf } from './chat-parameters'
export { cacheRulesOf } from './config'
export { ignoredHeader, ignoredWarning } from './ignored'
export { chatMetadata, usageOf } from './present'
export { createChat } from './routes'
export { assertAttachment, assertOrder, base64Of } from './rules'
export type { Progress } from './run'
export { type CompletionRequest, DEFAULT_ITERATIONS, requestFromOrder } from './run'
export {
  type CacheChoice,
  type CacheReading,
  type CompletionService,
  createCompletions,
} from './service'

export { nativeFramer } from './stream'
export { createVoice } from './voice'
