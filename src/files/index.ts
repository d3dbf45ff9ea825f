/** Stored files and artifacts, and the fonts that made files use. */
export type { Draft, Source } from './drafts'
export { expiredFiles, sweptFiles } from './drafts'
export {
  asDrawn,
  type Direction,
  directionOf,
  FALLBACK_FONTS,
  type Fallback,
  fallbackFor,
  fontOf,
  hasGlyphs,
  inVisualOrder,
  levelsOf,
  missingIn,
  type Piece,
  piecesOf,
  signsIn,
} from './fonts'
export { imageSize, isWhole } from './picture-complete'
export { createFilePlace } from './places'
export { createFiles, type Files, typeByName } from './service'
export { addUpload, countReader, expiredUploads, findUpload, lockUploads, verifyUploads } from './uploads'
