/** The built-in engine: what ordinary code can answer, for machines without a language model. */
export { createBuiltinDriver } from './client'
export { needsModel } from './no-model'
