type PictureFormat = 'PNG' | 'JPEG' | 'GIF' | 'WebP'

type Size = { format: PictureFormat; width: number; height: number }

/**
 * Whether the bytes of a picture reach its end, by its own structure, without decoding it. Ignores bytes after the end,
 * because cameras and editors write there.
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

/** The chunks of a PNG continue to the last one, `IEND`. */
function pngEnds(bytes: Buffer): boolean {
  for (let at = PNG_START; at + PNG_FRAME <= bytes.length; at += PNG_FRAME + bytes.readUInt32BE(at)) {
    if (bytes.toString('latin1', at + 4, at + 8) === 'IEND') return true
  }
  return false
}

const SCAN = 0xda
const JPEG_END = Buffer.from([0xff, 0xd9])

/** Searches for the end after the first scan, because an embedded thumbnail has its own end before it. */
function jpegEnds(bytes: Buffer): boolean {
  for (let at = 2; at + 4 <= bytes.length; at += bytes[at + 1] === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2)) {
    if (bytes[at + 1] === SCAN) return bytes.includes(JPEG_END, at)
  }
  return false
}

const GIF_HEAD = 13
const [EXTENSION, IMAGE, TRAILER] = [0x21, 0x2c, 0x3b]
/** The size of a colour table in bytes, from the flags that say whether there is one. */
const colours = (flags = 0): number => (flags & 0x80 ? 3 << ((flags & 7) + 1) : 0)

/** The blocks of a GIF continue to its trailer. */
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

/** Format and pixels of a PNG, GIF, WebP or JPEG from its header. Null for an unknown format. */
export function imageSize(bytes: Uint8Array): Size | null {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return readPng(data) ?? readGif(data) ?? readWebp(data) ?? readJpeg(data)
}

function readPng(data: Buffer): Size | null {
  if (data.length < 24 || data.readUInt32BE(0) !== 0x89504e47) return null
  return { format: 'PNG', width: data.readUInt32BE(16), height: data.readUInt32BE(20) }
}

function readGif(data: Buffer): Size | null {
  if (data.length < 10 || data.toString('latin1', 0, 3) !== 'GIF') return null
  return { format: 'GIF', width: data.readUInt16LE(6), height: data.readUInt16LE(8) }
}

function readWebp(data: Buffer): Size | null {
  if (data.length < 30 || data.toString('latin1', 0, 4) !== 'RIFF' || data.toString('latin1', 8, 12) !== 'WEBP')
    return null
  const kind = data.toString('latin1', 12, 16)
  if (kind === 'VP8X') return { format: 'WebP', width: data.readUIntLE(24, 3) + 1, height: data.readUIntLE(27, 3) + 1 }
  if (kind === 'VP8 ')
    return { format: 'WebP', width: data.readUInt16LE(26) & 0x3fff, height: data.readUInt16LE(28) & 0x3fff }
  const bits = data.readUInt32LE(21)
  return { format: 'WebP', width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
}

/** Walks the segments to the first frame header, which contains the size. */
function readJpeg(data: Buffer): Size | null {
  if (data.length < 4 || data.readUInt16BE(0) !== 0xffd8) return null
  for (let at = 2; at + 9 < data.length; ) {
    if (data[at] !== 0xff) return null
    // A marker may be filled up with more of its first byte.
    if (data[at + 1] === 0xff) {
      at++
      continue
    }
    const marker = data[at + 1]!
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { format: 'JPEG', width: data.readUInt16BE(at + 7), height: data.readUInt16BE(at + 5) }
    at += 2 + data.readUInt16BE(at + 2)
  }
  return null
}
