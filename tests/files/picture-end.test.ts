import { expect, test } from 'bun:test'
import { imageSize, isWhole } from '../../src/files'
import { PIXEL } from '../support/pixel'

// SQLite only: nothing here is stored.
const png = Buffer.from(PIXEL, 'base64')
const noise = Buffer.from(Array.from({ length: 256 }, (_, at) => (at * 37) % 251))
const drawn = () => new Bun.Image(png).resize(24, 24)
const jpeg = Buffer.from(await drawn().jpeg().bytes())
/** The head of a photograph with a small picture in it, which has an end of its own. */
const thumbnail = Buffer.concat([Buffer.from([0xff, 0xe1, (jpeg.length + 2) >> 8, (jpeg.length + 2) & 255]), jpeg])
const GIF = Buffer.concat([
  Buffer.from('GIF89a\u0001\u0000\u0001\u0000', 'latin1'),
  Buffer.from([0x80, 0, 0, 1, 2, 3, 4, 5, 6]),
  Buffer.from([0x21, 0xf9, 4, 0, 0, 0, 0, 0]),
  Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 3, 0x00 + 0x44, 0x3b, 0x3b, 0, 0x3b]),
])

test.each<[string, Buffer]>([
  ['PNG', png],
  ['JPEG', jpeg],
  ['JPEG', Buffer.concat([jpeg.subarray(0, 2), thumbnail, jpeg.subarray(2)])],
  // A marker may be filled up with its first byte.
  ['JPEG', Buffer.concat([jpeg.subarray(0, 2), Buffer.from([0xff, 0xff]), jpeg.subarray(2)])],
  ['WebP', Buffer.from(await drawn().webp().bytes())],
  ['GIF', GIF],
])('a %s is whole with whatever behind it, and none of its beginnings is', (named, bytes) => {
  const { format } = imageSize(bytes)!
  expect<string>(format).toBe(named)
  expect(isWhole(format, bytes)).toBe(true)
  expect(isWhole(format, Buffer.concat([bytes, noise]))).toBe(true)
  const beginnings = Array.from({ length: bytes.length - 8 }, (_, at) => bytes.subarray(0, at + 8))
  expect(beginnings.filter((part) => isWhole(format, part)).map(({ length }) => length)).toEqual([])
})

const head = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1')))

const HEADS: [string, Buffer, ReturnType<typeof imageSize>][] = [
  [
    'PNG',
    head([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13], 'IHDR', [0, 0, 2, 128, 0, 0, 1, 224]),
    { format: 'PNG', width: 640, height: 480 },
  ],
  ['GIF', head('GIF89a', [64, 1, 240, 0]), { format: 'GIF', width: 320, height: 240 }],
  [
    'JPEG',
    head([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 11, 8, 0, 100, 0, 200, 1, 0, 0, 0]),
    { format: 'JPEG', width: 200, height: 100 },
  ],
  [
    'WebP',
    head('RIFF', [0, 0, 0, 0], 'WEBPVP8X', [10, 0, 0, 0, 0, 0, 0, 0, 99, 0, 0, 49, 0, 0]),
    { format: 'WebP', width: 100, height: 50 },
  ],
  ['text', head('not an image at all, just words'), null],
  ['a cut JPEG', head([0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff, 0, 0, 0, 0, 0, 0]), null],
  ['nothing', head(''), null],
]

test.each(HEADS)('the size of %s is read from its first bytes', (_kind, bytes, size) => {
  expect(imageSize(bytes)).toEqual(size)
})
