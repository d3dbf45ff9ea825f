/** The classifier: which mode a prompt wants when the caller leaves the choice to the service. */
export type { Choice } from './choice'
export {
  type Classifier,
  createClassifier,
  createEngineClassifier,
  createExplain,
  type EngineClassifier,
} from './explain'
export type { Guidance, Rule } from './guidance'
export { standIn } from './stages'
export { createUnbilledAdmission } from './unbilled-admission'
