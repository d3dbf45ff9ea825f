/** Engines that answer prompts: drivers of upstreams, and the built-in engine. */

export { type Origin, originOf, type RunRequest, type WholeAnswer } from './answering'
export type { Observe } from './attempt'
export { createBuiltinDriver } from './builtin/client'
export { needsModel } from './builtin/no-model'
export { ENGINES, engineOfMode, findEngine } from './catalog'
export { type EngineSettings, EnginesFile, engineSettings } from './config'
export {
  type AnswerSchema,
  type Driver,
  EngineFailure,
  type EngineTool,
  type ImagePart,
  type ImageQuality,
  type JsonSchema,
  type MadeImage,
  type Message,
  type Part,
  type ToolCall,
  type ToolChoice,
} from './engine'
export { engineMissing, engineUnable, engineUnavailable } from './errors'
export { type OrderedVideo, VideoInDoubt } from './filming'
export { imagePrompt } from './image-prompt'
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
export type { Transcription } from './speech'
export { resealEngines, type StoredEngines } from './stored'
export { countPrompt, countTokens } from './tokens'
export { UPSTREAM_KINDS, UPSTREAM_SETTINGS, type UpstreamConfig } from './upstream'
