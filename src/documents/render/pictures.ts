import type { Image } from '../blocks/model'

const MOST_BYTES = 12 * 1024 * 1024
const MOST_PIXELS = 40_000_000
/** The longer side, for a picture as wide as a page. */
const MOST_SIDE = 1_600

/**
 * A picture as every format takes it: PNG or JPEG, no larger than a page needs, and nothing in it but its pixels. Null
 * for what is no picture or is too large.
 */
export async function readPicture(bytes: Uint8Array): Promise<Image | null> {
  if (bytes.length === 0 || bytes.length > MOST_BYTES) return null
  try {
    const { width, height, format } = await new Bun.Image(bytes).metadata()
    if (width * height > MOST_PIXELS) return null
    const scale = Math.min(1, MOST_SIDE / Math.max(width, height))
    const size = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
    const drawn = new Bun.Image(bytes).resize(size.width, size.height)
    const isPhoto = format === 'jpeg'
    return { ...size, format: isPhoto ? 'jpeg' : 'png', bytes: await (isPhoto ? drawn.jpeg() : drawn.png()).bytes() }
  } catch {
    return null
  }
}

/** The bytes of a `data:` address of a picture; null for any other address. */
export function inlineBytes(source: string): Uint8Array | null {
  const found = /^data:image\/(?:png|jpe?g|webp|gif);base64,([A-Za-z0-9+/=]+)$/.exec(source)
  return found ? Buffer.from(found[1]!, 'base64') : null
}
