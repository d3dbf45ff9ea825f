import { describe, expect, test } from 'bun:test'
import { finished } from '../../src/media/video/mp4'

const WORDS = { tool: 'a tool', comment: 'a comment', xmp: '<x/>' }

const u32 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, at * 4)
  return bytes
}
const box = (type: string, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  return Buffer.concat([u32(body.length + 8), Buffer.from(type, 'latin1'), body])
}
const typesOf = (mp4: Buffer): string[] => {
  const types: string[] = []
  for (let at = 0; at < mp4.length; at += mp4.readUInt32BE(at)) types.push(mp4.toString('latin1', at + 4, at + 8))
  return types
}

/** Two pictures of one byte each, which the table of offsets points to. */
function small(table: (offsets: number[]) => Buffer): Buffer {
  const ftyp = box('ftyp', Buffer.from('isom\0\0\0\0isom'))
  const free = box('free', Buffer.alloc(12))
  const mdat = box('mdat', Buffer.from('AB'))
  const start = ftyp.length + free.length + 8
  const stbl = box('stbl', table([start, start + 1]))
  const moov = box('moov', box('udta', Buffer.from('old')), box('trak', box('mdia', box('minf', stbl))))
  return Buffer.concat([ftyp, free, mdat, moov])
}
const stco = (offsets: number[]) => box('stco', u32(0, offsets.length, ...offsets))
const co64 = (offsets: number[]) => box('co64', u32(0, offsets.length, ...offsets.flatMap((offset) => [0, offset])))

/** The bytes that the table points to. */
function pointed(mp4: Buffer, type: 'stco' | 'co64'): string {
  const at = mp4.indexOf(type, 0, 'latin1') + 4
  const width = type === 'stco' ? 4 : 8
  const count = mp4.readUInt32BE(at + 4)
  const offsets = Array.from({ length: count }, (_, n) => mp4.readUInt32BE(at + 8 + n * width + (width - 4)))
  return offsets.map((offset) => String.fromCharCode(mp4[offset]!)).join('')
}

describe('a finished MP4', () => {
  test.each([
    ['stco', stco],
    ['co64', co64],
  ] as const)('has its index first, and its %s still points to the pictures', (type, table) => {
    const mp4 = finished(small(table), WORDS)
    expect(typesOf(mp4)).toEqual(['ftyp', 'moov', 'uuid', 'mdat'])
    expect(pointed(mp4, type)).toBe('AB')
    expect(mp4.includes('a comment')).toBe(true)
    expect(mp4.includes('old')).toBe(false)
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['a box that is longer than the file', u32(100, 0x66747970)],
    ['no pictures', Buffer.concat([box('ftyp', Buffer.from('isom')), box('moov')])],
    ['words', Buffer.from('these are only words')],
  ])('is not made of %s', (_, bytes) => {
    expect(() => finished(bytes, WORDS)).toThrow('not a whole MP4')
  })
})
