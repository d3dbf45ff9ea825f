import { expect, test } from 'bun:test'
import { framesOf, stillOf, toYuv } from '../../src/media/video/frames'
import { storyboard } from '../../src/media/video/storyboard'

const STORY = 'A rocket stands on the ground. The rocket flies to the moon. An astronaut waves.'
const clip = { prompt: STORY, style: null, width: 160, height: 90, seconds: 12 }

test('a story has a title, then a picture with a caption for each part', () => {
  const shots = storyboard(clip)
  expect(shots.map(({ picture }) => picture.title)).toEqual([
    'A rocket stands on the ground',
    'A rocket stands on the ground',
    'The rocket flies to the moon',
    'An astronaut waves',
  ])
  expect(shots.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(clip.seconds, 6)
  for (const { lettering } of shots) expect(lettering.filter(({ type }) => type === 'text').length).toBeGreaterThan(0)
})

test('frames pan over one picture, cut to the next, and keep captions and the mark in place', () => {
  const frames = framesOf(clip, 5)
    .map(({ pixels }) => Uint32Array.from(pixels))
    .toArray()
  expect(frames).toHaveLength(60)
  const differing = frames.slice(1).map((frame, at) => frame.filter((pixel, on) => pixel !== frames[at]![on]).length)
  expect(differing.filter((count) => count > frames[0]!.length / 2)).toHaveLength(3)
  for (const frame of frames) expect(frame.every((pixel) => pixel >>> 24 === 255)).toBe(true)
  // A row through the letters of the mark.
  const mark = (frame: Uint32Array) =>
    [...frame.subarray(160 * 67 + 55, 160 * 67 + 145)].filter((pixel) => (pixel & 0xff) > 200)
  for (const frame of frames) expect(mark(frame).length).toBeGreaterThan(3)
})

test('the still is a late frame', () => {
  expect(Buffer.from(stillOf(clip)).toString('latin1', 1, 4)).toBe('PNG')
})

test('colours become brightness and colour of BT.601', () => {
  const planes = new Uint8Array(6)
  toYuv({ width: 2, height: 2, pixels: new Uint32Array(4).fill(0xff0000ff) }, planes)
  expect([...planes]).toEqual([82, 82, 82, 82, 90, 240])
})
