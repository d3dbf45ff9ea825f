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
export async function reencodeImage<F extends Format>(
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

/** Picture formats that most engines cannot read, by their first bytes. */
const OTHERS: readonly (readonly [name: string, start: RegExp])[] = [
  ['a HEIC', /^.{4}ftyp(?:hei[cmsx]|hev[cmx]|mif1|msf1)/s],
  ['an AVIF', /^.{4}ftypavi[fs]/s],
  ['a TIFF', /^(?:II\*\0|MM\0\*)/],
  ['a JPEG 2000', /^.{4}jP {2}/s],
  ['a JPEG XL', /^(?:.{4}JXL |\xff\n)/s],
  ['an ICO', /^\0\0[^\0]\0[^\0]\0/],
  ['a BMP', /^BM.{4}\0{4}/s],
  ['an SVG', /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--[^>]{0,200}-->\s*)?<svg[\s>]/],
]

/** The end of a sentence that says what the bytes of a rejected picture are. */
export function describeRejectedImage(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, 512)).toString('latin1')
  const name = OTHERS.find(([, begins]) => begins.test(start))?.[0]
  return name
    ? `is ${name} picture. Save it as PNG, JPEG, WebP or GIF, and send that`
    : 'is not a picture. Send the bytes of a PNG, JPEG, WebP or GIF'
}
