/** Engines: model ids, the modes they serve, and the drivers of the upstreams that answer. */

export type { RunRequest } from './answering'
export { type Origin, originOf } from './answering'
export { ENGINES, engineOfMode, findEngine } from './catalog'
export { type EngineSettings, EnginesFile, engineSettings, upstreamPrices } from './config'
export type {
  Driver,
  EngineAnswer,
  EnginePart,
  EngineRequest,
  EngineTool,
  ImagePart,
  JsonSchema,
  Message,
  Part,
  ToolCall,
  ToolChoice,
} from './engine'

export type { UpstreamState } from './probes'
export { createEngines, type EngineService } from './service'
export { countPrompt, countTokens } from './tokens'
export { UPSTREAM_KINDS, UPSTREAM_SETTINGS, type UpstreamConfig } from './upstream'
