import { describe, expect, test } from 'bun:test'
import { createStretcher } from '../../../src/media/audio/stretch'

const RATE = 22_050
const tone = (seconds: number, hertz: number): Float32Array =>
  Float32Array.from({ length: RATE * seconds }, (_, at) => Math.sin((2 * Math.PI * hertz * at) / RATE))

/** The sound in pieces of odd lengths, stretched. */
function stretched(sound: Float32Array, factor: number): Float32Array {
  const stretcher = createStretcher(factor, RATE)
  const out: number[] = []
  for (let at = 0, size = 1; at < sound.length; at += size, size = (size * 7 + 13) % 5_000) {
    out.push(...stretcher.push(sound.slice(at, at + size)))
  }
  out.push(...stretcher.end())
  return Float32Array.from(out)
}

/** Cycles a second, by the crossings of zero. */
function hertzOf(sound: Float32Array): number {
  let crossings = 0
  for (let at = 1; at < sound.length; at++) if (sound[at - 1]! < 0 !== sound[at]! < 0) crossings += 1
  return crossings / 2 / (sound.length / RATE)
}

describe('stretched sound', () => {
  test.each([1.3, 1.9, 3])('lasts %d times as long at the same pitch and loudness', (factor) => {
    const out = stretched(tone(1, 220), factor)
    // The last frame keeps its length.
    expect(Math.abs(out.length / RATE - factor)).toBeLessThan(0.03 * factor)
    expect(Math.abs(hertzOf(out) - 220)).toBeLessThan(6)
    const middle = out.slice(RATE / 4, -RATE / 4)
    expect(Math.max(...middle)).toBeLessThan(1.02)
    expect(Math.hypot(...middle) / Math.sqrt(middle.length)).toBeGreaterThan(0.66)
  })

  test('is the same sound at a factor of 1, and nothing of nothing', () => {
    expect(stretched(tone(1, 220), 1)).toEqual(tone(1, 220))
    expect(stretched(new Float32Array(), 2)).toEqual(new Float32Array())
    expect(stretched(tone(1, 220).slice(0, 50), 2).length).toBe(50)
  })
})
