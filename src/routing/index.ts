/** Which mode and model answers a prompt: the classifier and the routing preferences. */
export type { Choice } from './classifier/choice'
export {
  type Classifier,
  createClassifier,
  createEngineClassifier,
  createExplain,
  type EngineClassifier,
} from './classifier/explain'
export type { Guidance, Rule } from './classifier/guidance'
export { standIn } from './classifier/stages'
export { createUnbilledAdmission } from './classifier/unbilled-admission'
export { wronglyChosenIn } from './routing-preferences/accuracy'
export { createEffective, type EffectiveRouting } from './routing-preferences/effective'
export type { Effective } from './routing-preferences/guidance'
export { createPreferences, createRoutingPreview } from './routing-preferences/service'
export { engineLeft } from './routing-preferences/service-preview'
export { trialOf } from './routing-preferences/trial'
