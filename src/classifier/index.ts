/** Classifier: which mode a prompt wants when nobody said. */
export { type Classifier, createClassifier } from './service'
