/** Chooses the mode and model that answer a prompt: the classifier and the routing preferences. */
export { type Classifier, createClassifier, createExplain } from './classifier'
export { wronglyChosenIn } from './corrections'
export { createEffective, type Effective, type EffectiveRouting, trialOf } from './effective'
export { createEngineClassifier, createUnbilledAdmission, type EngineClassifier } from './engine-classifier'
export { createRoutingPreview, engineLeft } from './preview'
export { createPreferences } from './service'
export { type Choice, fallbackMode, type Guidance, type Rule } from './stages'
