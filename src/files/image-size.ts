export type PictureFormat = 'PNG' | 'JPEG' | 'GIF' | 'WebP'
type Size = { format: PictureFormat; width: number; height: number }

/** Format and pixels of a PNG, GIF, WebP or JPEG from its header; null for an unknown format. */
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

/** Walks the segments to the first frame header, which holds the size. */
function readJpeg(data: Buffer): Size | null {
  if (data.length < 4 || data.readUInt16BE(0) !== 0xffd8) return null
  for (let at = 2; at + 9 < data.length; ) {
    if (data[at] !== 0xff) return null
    const marker = data[at + 1]!
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { format: 'JPEG', width: data.readUInt16BE(at + 7), height: data.readUInt16BE(at + 5) }
    at += 2 + data.readUInt16BE(at + 2)
  }
  return null
}
