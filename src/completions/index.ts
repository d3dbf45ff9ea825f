/** The pipeline from a prompt to its answer: completions, chat format, voice and the agent loop. */
export { createAgent, fitHistory } from './agent-loop'
export { createSandbox, type Sandbox } from './agent-sandbox'
export { TURN_GAP } from './agent-schema'
export { modeOfCall } from './agent-turn'
export type { CacheChoice, Cached, CacheReading } from './cache'
export { requestFromChat } from './chat-from-wire'
export {
  argumentsOfInput,
  cacheMarksOf,
  endUserOf,
  formOfSchema,
  functionOfCustom,
  grammarWarning,
  inputOf,
  samplingOf,
} from './chat-parameters'
export { assertInput, requestFromInput } from './completion-from-wire'
export { cacheRulesOf } from './config'
export { assembleSystem, type Voice } from './decide'
export { aboutOf } from './end'
export { assertAttachment, base64Of } from './images'
export { type CompletionService, createCompletions } from './pipeline'
export { chatMetadata, turnsOf, usageOf } from './present'
export { createChat, wantsFresh } from './routes'
export { ignoredWarning, nameIgnored } from './rules'
export { type CompletionRequest, DEFAULT_ITERATIONS, type Progress } from './run'
export { nativeFramer } from './stream'
export { createReplay, createTestCases } from './test-cases'
export { createVoice } from './voice'
