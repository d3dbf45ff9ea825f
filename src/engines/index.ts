/** Engines: model ids, the modes they serve, and the seam to whatever answers. */
export { ENGINES, type EngineEntry, engineOfMode, findEngine, IMAGE_MODELS } from './catalog'
export { type EngineSettings, EnginesFile, engineSettings, UPSTREAM_KINDS, type UpstreamConfig } from './config'
export type { EngineTool, FinishReason, ImagePart, JsonSchema, Message, Part, ToolCall, ToolChoice } from './engine'
export { engineBrokeOff, engineMisconfigured, engineMissing, engineUnavailable } from './errors'
export type { CheckedUsage, RunPart } from './meter'
export type { ProviderHealth, ProviderStatus } from './probes'
export {
  createEngines,
  type EngineService,
  type RunningAnswer,
  type RunOptions,
  type RunRequest,
  type WholeAnswer,
} from './service'
export { countPrompt, countTokens } from './tokens'
