/** Engines: model ids, the modes they serve, and the drivers of the upstreams that answer. */

export type { RunRequest, WholeAnswer } from './answering'
export { type Origin, originOf } from './answering'
export type { Observe } from './attempt'
export { ENGINES, engineOfMode, findEngine } from './catalog'
export { type EngineSettings, EnginesFile, engineSettings } from './config'
export type {
  AnswerSchema,
  Driver,
  EngineAnswer,
  EnginePart,
  EngineRequest,
  EngineTool,
  ImagePart,
  ImageQuality,
  JsonSchema,
  MadeImage,
  Message,
  Part,
  ToolCall,
  ToolChoice,
} from './engine'
export { EngineFailure } from './engine'
export { engineMissing, engineUnable, engineUnavailable } from './errors'
export { type OrderedVideo, VideoInDoubt } from './filming'
export { imagePrompt } from './image-prompt'
export { type KeptEngines, resealEngines } from './kept'
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
export { countPrompt, countTokens } from './tokens'
export { UPSTREAM_KINDS, UPSTREAM_SETTINGS, type UpstreamConfig } from './upstream'
