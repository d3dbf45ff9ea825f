/** Routing preferences: what a caller has said about which mode and engine a prompt wants. */
export { wronglyChosenIn } from './accuracy'
export { trialOf } from './beside'
export { createEffective, type EffectiveRouting } from './effective'
export type { Effective, ReadyRule } from './guidance'
export { createPreferences, createRoutingPreview, type PreferenceService, type RoutingPreview } from './service'
