/** Maximum pixels of a picture. Decoding this many takes 160 MB. */
const MAX_PIXELS = 40_000_000

type Format = 'jpeg' | 'png' | 'webp'
type Input<F extends Format> = {
  /** Returns the output format for an input format: `jpeg`, `png`, `webp`, `gif` and others. */
  as(format: string): F
  /** Maximum pixels of the longer side. Default: unchanged. */
  maxSide?: number
  /** Quality from 1 to 100, for formats that have one. */
  quality?: number
}
type Redrawn<F extends Format> = { format: F; width: number; height: number; bytes: Uint8Array<ArrayBuffer> }

/**
 * Redraws a picture upright and with nothing but its pixels, so a photograph loses its location data (docs/attacks.md
 * O17). Null if it is not a picture, or is too large.
 */
export async function redrawn<F extends Format>(
  bytes: Uint8Array,
  { as, maxSide = Number.POSITIVE_INFINITY, quality }: Input<F>,
): Promise<Redrawn<F> | null> {
  try {
    const { width, height, format } = await new Bun.Image(bytes).metadata()
    if (width * height > MAX_PIXELS) return null
    const scale = Math.min(1, maxSide / Math.max(width, height))
    const size = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
    const drawn = new Bun.Image(bytes).resize(size.width, size.height)
    const [how, options] = [as(format), quality === undefined ? {} : { quality }]
    const written = how === 'png' ? drawn.png() : how === 'webp' ? drawn.webp(options) : drawn.jpeg(options)
    return { ...size, format: how, bytes: new Uint8Array(await written.bytes()) }
  } catch {
    return null
  }
}
