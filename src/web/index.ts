/** Web: searching it by the operator's search server, and reading its pages as text. */
export { WebFailure } from './failure'
export { createWeb, hasSearch, type Web } from './service'
