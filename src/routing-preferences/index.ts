/** Routing preferences: callers' own rules for the mode and engine of a prompt, and their corrections. */
export { wronglyChosenIn } from './accuracy'
export { createEffective, type EffectiveRouting } from './effective'
export type { Effective } from './guidance'
export { createPreferences, createRoutingPreview } from './service'
export { engineLeft } from './service/preview'
export { trialOf } from './trial'
