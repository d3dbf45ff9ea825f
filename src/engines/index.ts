/** Engines that answer prompts: drivers of upstreams, and the built-in engine. */

export type { RunRequest, WholeAnswer } from './answering'
export { askShortQuestion, shortAnswerEngine } from './brief'
export { createBuiltinDriver } from './builtin/client'
export { needsModel } from './builtin/no-model'
export {
  ALIAS_NAME,
  Alias,
  ENGINES,
  engineOfMode,
  findEngine,
  LOCAL_EMBEDDING,
  LOCAL_LENGTH,
  mappedEngine,
} from './catalog'
export {
  type EngineSettings,
  EnginesFile,
  engineSettings,
  type StoredEngines,
  UPSTREAM_KINDS,
  UPSTREAM_SETTINGS,
  type UpstreamConfig,
} from './config'
export { toolNamed } from './drivers/compat-calls'
export type { Transcription } from './engine'
export {
  type AnswerSchema,
  type Driver,
  EFFORTS,
  type Effort,
  EngineFailure,
  type EngineTool,
  type ImageDetail,
  type ImagePart,
  type ImageQuality,
  imagePrompt,
  type JsonSchema,
  type MadeImage,
  type Message,
  type Part,
  type Sampling,
  SPEECH_FORMATS,
  type SpeechFormat,
  type TokenDetails,
  type TokenLogprob,
  type ToolCall,
  type ToolChoice,
} from './engine'
export { engineErrors } from './failures'
export { createUpstreamHealth, HEALTH_WINDOWS, type HealthWindow, type Observe, type UpstreamHealth } from './health'
export { addDetails, countPrompt, countTokens, ENOUGH } from './meter'
export { CACHING, parametersIn } from './parameters'
export { readKey } from './parts'
export { startProbeLoop, type UpstreamState } from './probes'
export {
  createEngineRegistry,
  createEngines,
  type EngineRegistry,
  type EngineService,
  type EngineVersion,
  startEngineSettingsLoop,
} from './service'
export { resealEngines } from './table'
export { type Origin, originOf } from './targets'
export { type UpstreamVideo, VideoOutcomeUnknown } from './videos'
