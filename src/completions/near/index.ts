/** Prompts in other words: whether one asks for exactly what another did, and so may have its answer. */
export { gistOf } from './gist'
export { createNear, type Near } from './near'
