/** The formats of other services that clients speak, each translated to the one completion request and back. */
export { backgroundKind } from './background'
export { expiredResponses } from './stored'
