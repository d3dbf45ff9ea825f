/** The classifier: which mode a prompt wants when the caller leaves the choice to the service. */
export { type Ask, type Choice, type Classifier, createClassifier } from './decide'
