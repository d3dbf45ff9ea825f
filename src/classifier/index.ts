/** The classifier: which mode a prompt wants when the caller leaves the choice to the service. */
export { type AskEngine, createAskEngine } from './ask-engine'
export type { Ask, Choice } from './choice'
export { type Classifier, createClassifier } from './decide'
export { createExplain, type Explain, type Explained, type StageReport } from './explain'
export { floorOf, type Guidance, type Rule } from './guidance'
export { createUnbilledAdmission } from './unbilled-admission'
