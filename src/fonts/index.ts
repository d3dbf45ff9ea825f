/** Fonts: which one has a letter, and in what order the letters of a line stand. */
export { asDrawn, type Direction, directionOf, inVisualOrder, levelsOf } from './direction'
export {
  FALLBACK_FONTS,
  type Fallback,
  fallbackFor,
  fontOf,
  hasGlyphs,
  missingIn,
  type Piece,
  piecesOf,
  signsIn,
} from './pieces'
