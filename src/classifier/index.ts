/** The classifier: which mode a prompt wants when the caller leaves the choice to the service. */
export { type AskEngine, createAskEngine } from './ask-engine'
export { type Ask, type Choice, type Classifier, createClassifier } from './decide'
export { floorOf, type Guidance, type Rule } from './guidance'
