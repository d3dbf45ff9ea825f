import { imageSize, isWhole } from '../files'
import { invalidInput } from '../kernel/errors'

/** Pixels of one picture: those of the largest cameras, and far below what a header of a few bytes may claim. */
const MAX_PIXELS = 250_000_000

/**
 * The media type that the bytes of a picture are, whatever they are called. Throws 400 `validation_error` for what is no
 * PNG, JPEG, WebP or GIF, has no pixels or too many, or was cut off (catalogue O5). It draws nothing.
 */
export function typeOfPicture(bytes: Buffer, path: string): string {
  const size = imageSize(bytes)
  const refused = (what: string) => invalidInput(path, `"${path}" ${what}.`)
  if (!size) throw refused('is not a picture. Send the bytes of a PNG, JPEG, WebP or GIF')
  const { format, width, height } = size
  if (width * height === 0)
    throw refused(`is a picture of ${width} × ${height} pixels, which is too small. Send a larger picture`)
  if (width * height > MAX_PIXELS) throw refused(`says that it has ${width} × ${height} pixels. Send a smaller picture`)
  if (!isWhole(format, bytes)) throw refused(`is an incomplete ${format}. Send the whole file`)
  return `image/${format.toLowerCase()}`
}
