/** Web: searching it by the operator's search server, and reading its pages as text. */
export { WebFailure } from './failure'
export { createWeb, type Web } from './service'
