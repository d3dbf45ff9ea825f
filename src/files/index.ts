/** Stored files and artifacts. */
export type { Draft, Source } from './drafts'
export { expiredFiles, sweptFiles } from './drafts'
export { imageSize, isWhole } from './picture-complete'
export { createFilePlace } from './places'
export { createFiles, type Files, typeByName } from './service'
export { addUpload, countReader, expiredUploads, findUpload, lockUploads, verifyUploads } from './uploads'
