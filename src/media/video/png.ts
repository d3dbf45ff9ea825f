import { deflateSync } from 'node:zlib'
import type { Frame } from './raster'

/** An opaque frame as PNG. */
export function toPng({ width, height, pixels }: Frame): Buffer {
  const rows = Buffer.alloc(height * (width * 3 + 1))
  let at = 0
  for (let y = 0; y < height; y++) {
    rows[at++] = 0
    for (let x = 0; x < width; x++) {
      const pixel = pixels[y * width + x]!
      rows[at++] = pixel & 0xff
      rows[at++] = (pixel >>> 8) & 0xff
      rows[at++] = (pixel >>> 16) & 0xff
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  const parts = [chunk('IHDR', header), chunk('IDAT', deflateSync(rows, { level: 6 })), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([signature, ...parts])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const whole = Buffer.alloc(body.length + 8)
  whole.writeUInt32BE(data.length, 0)
  body.copy(whole, 4)
  whole.writeUInt32BE(Bun.hash.crc32(body), body.length + 4)
  return whole
}
