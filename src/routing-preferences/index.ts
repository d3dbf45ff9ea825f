/** Routing preferences: callers' own rules for the mode and engine of a prompt, and their corrections. */
export { wronglyChosenIn } from './accuracy'
export { createEffective, type EffectiveRouting } from './effective'
export { engineLeft } from './engine-used'
export type { Effective } from './guidance'
export { createPreferences, createRoutingPreview } from './service'
export { trialOf } from './trial'
