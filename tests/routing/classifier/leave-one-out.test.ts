import { expect, test } from 'bun:test'
import { confidenceOf, TEXT_MODES } from '../../../src/routing/classifier'
import {
  calibrationOf,
  type LeftOut,
  leaveEachOut,
  writersOf,
  writersPrompts,
} from '../../../src/training/classifier/leave-one-out'

const prompt = (writer: string, label: LeftOut['label'], text: string) => ({
  text,
  label,
  writer,
  language: 'en',
  hard: false,
  line: 0,
})

test('a writer is scored by a model that never saw them', () => {
  const prompts = ['ann', 'ben', 'cem'].flatMap((writer) => [
    prompt(writer, 'code', 'write a function that sorts a list'),
    prompt(writer, 'image', 'draw a fox in the snow'),
  ])
  // What only one of them writes is known to nobody else's model.
  const alone = prompt('cem', 'video', 'zwirbel klonk')
  const left = leaveEachOut([...prompts, alone], [])
  expect(writersOf(left)).toEqual(['ann', 'ben', 'cem'])
  expect(left.filter(({ got, label }) => got === label)).toHaveLength(prompts.length)
  expect(left.find(({ text }) => text === alone.text)!.got).not.toBe('video')
})

test('a confidence is the share of right answers, for each mode that was said', () => {
  // Always as sure; right nine times of ten where it says code, and five times of ten where it says image.
  const outcomes = Array.from({ length: 400 }, (_, at): LeftOut => {
    const got = at % 2 ? 'code' : 'image'
    const isRight = Math.floor(at / 2) % 10 < (got === 'code' ? 9 : 5)
    return { ...prompt('ann', isRight ? got : 'fast', 'x'), got, chance: 0.8 }
  })
  const calibration = calibrationOf(outcomes)
  expect(confidenceOf(0.8, calibration.code)).toBeCloseTo(0.9, 1)
  expect(confidenceOf(0.8, calibration.image)).toBeCloseTo(0.5, 1)
  expect(Object.keys(calibration).sort()).toEqual([...TEXT_MODES].sort())
})

test('fifteen writers or more wrote 8,000 prompts, none twice, every mode by each', () => {
  const all = writersPrompts()
  expect(all.length).toBeGreaterThanOrEqual(8_000)
  expect(writersOf(all).length).toBeGreaterThanOrEqual(15)
  for (const writer of writersOf(all)) {
    const own = all.filter((one) => one.writer === writer)
    expect(new Set(own.map(({ label }) => label)).size).toBe(TEXT_MODES.length)
    expect(new Set(own.map(({ text }) => text)).size).toBe(own.length)
  }
})
