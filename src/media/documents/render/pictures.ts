import { reencodeImage } from '../../../kernel/pictures'
import type { Image } from '../blocks-model'

const MAX_BYTES = 12 * 1024 * 1024
/** Maximum pixels of the longer side, for a picture as wide as a page. */
const MAX_SIDE = 1_600

/**
 * Re-encodes a picture as PNG or JPEG, at most as large as a page needs, and without metadata. Null if the bytes are
 * not a picture or are too large.
 */
export async function readPicture(bytes: Uint8Array): Promise<Image | null> {
  if (bytes.length === 0 || bytes.length > MAX_BYTES) return null
  return reencodeImage(bytes, { as: (format) => (format === 'jpeg' ? 'jpeg' : 'png'), maxSide: MAX_SIDE })
}

/** The bytes of a picture in a `data:` URL. Null for any other address. */
export function inlineBytes(source: string): Uint8Array | null {
  const found = /^data:image\/(?:png|jpe?g|webp|gif);base64,([A-Za-z0-9+/=]+)$/.exec(source)
  return found ? Buffer.from(found[1]!, 'base64') : null
}
