import type { PictureFormat } from './image-size'

/**
 * Whether the bytes of a picture go on to its end, by its own structure: the beginning of a file is no picture. What
 * stands behind the end is not looked at, because cameras and editors write there. It draws nothing.
 */
export const isWhole = (format: PictureFormat, bytes: Buffer): boolean => ENDS[format](bytes)

const ENDS: Record<PictureFormat, (bytes: Buffer) => boolean> = {
  PNG: pngEnds,
  JPEG: jpegEnds,
  GIF: gifEnds,
  WebP: (bytes) => bytes.length >= 8 + bytes.readUInt32LE(4),
}

const PNG_START = 8
const PNG_FRAME = 12

/** The parts of a PNG go on to its last one, `IEND`. */
function pngEnds(bytes: Buffer): boolean {
  for (let at = PNG_START; at + PNG_FRAME <= bytes.length; at += PNG_FRAME + bytes.readUInt32BE(at)) {
    if (bytes.toString('latin1', at + 4, at + 8) === 'IEND') return true
  }
  return false
}

const SCAN = 0xda
const JPEG_END = Buffer.from([0xff, 0xd9])

/** The end is behind the first scan: the small picture in the head of a photograph has an end of its own. */
function jpegEnds(bytes: Buffer): boolean {
  for (let at = 2; at + 4 <= bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    if (bytes[at + 1] === SCAN) return bytes.includes(JPEG_END, at)
  }
  return false
}

const GIF_HEAD = 13
const [EXTENSION, IMAGE, TRAILER] = [0x21, 0x2c, 0x3b]
/** The bytes of a table of colours, by the byte that says whether there is one. */
const colours = (flags = 0): number => (flags & 0x80 ? 3 << ((flags & 7) + 1) : 0)

/** The blocks of a GIF go on to its trailer. */
function gifEnds(bytes: Buffer): boolean {
  let at = GIF_HEAD + colours(bytes[10])
  while (at < bytes.length && bytes[at] !== TRAILER) {
    if (bytes[at] === EXTENSION) at += 2
    else if (bytes[at] === IMAGE) at += 11 + colours(bytes[at + 9])
    else return false
    while (bytes[at]) at += 1 + bytes[at]!
    at++
  }
  return at < bytes.length
}
