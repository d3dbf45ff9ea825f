/** Finds the remembered answer to the same prompt in other words (contract 22.1). */
export { gistOf } from './gist'
export { createNear, type Near } from './near'
