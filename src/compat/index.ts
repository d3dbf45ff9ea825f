/** API formats of other services, each translated to the one completion request and back. */
export { defineBatchJob } from './batches-job'
export { type FileDeps, fileReader } from './files'
export { backgroundKind } from './responses'
export { expiredResponses, removeResponsesOf } from './stored'
