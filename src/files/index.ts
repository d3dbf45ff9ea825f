/** Files: bytes that svc made, kept once, as artifacts of their owners and behind signed links. */
export type { Draft, Source } from './drafts'
export { createFileOversight } from './oversight'
export { imageSize, isWhole } from './picture-end'
export { createFilePlace } from './places'
export { createFiles, type Files } from './service'
export { expiredFiles, sweptFiles } from './sweep'
