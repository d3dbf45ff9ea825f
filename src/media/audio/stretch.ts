/** Milliseconds of one frame, and how far a frame may move to match the sound before it. */
const FRAME_MS = 30
const SEEK_MS = 8

/**
 * Stretches audio at the same pitch, piece by piece (WSOLA). Frames overlap by half. Each starts where it best
 * continues the output so far. A factor of 1 changes nothing.
 */
export function createStretcher(factor: number, rate: number) {
  const half = Math.round((rate * FRAME_MS) / 2_000)
  const seek = Math.round((rate * SEEK_MS) / 1_000)
  const step = half / factor
  const rise = Float32Array.from({ length: half }, (_, at) => 0.5 - 0.5 * Math.cos((Math.PI * (at + 0.5)) / half))
  let input = new Float32Array()
  /** Offset of `input` in the whole sound, and the ideal position of the next frame. */
  let dropped = 0
  let ideal = 0
  /** The second half of the last frame, which is blended with the next frame. */
  let tail: Float32Array | null = null

  return {
    push(sound: Float32Array): Float32Array {
      if (factor === 1) return sound
      input = concat(input, sound)
      return take(2 * half + seek)
    },
    /** Returns the remaining samples. */
    end(): Float32Array {
      if (factor === 1) return new Float32Array()
      const rest = take(2 * half)
      return tail ? concat(rest, tail) : input
    },
  }

  function take(needed: number): Float32Array {
    const out: Float32Array[] = []
    while (Math.round(ideal) - dropped + needed <= input.length) {
      const at = tail ? bestNear(Math.round(ideal) - dropped, tail) : 0
      const before: Float32Array = tail ?? input.subarray(at, at + half)
      out.push(before.map((sample, i) => sample * (1 - rise[i]!) + input[at + i]! * rise[i]!))
      tail = input.slice(at + half, at + 2 * half)
      ideal += step
    }
    const unneeded = Math.max(0, Math.min(Math.round(ideal) - dropped - seek, input.length))
    input = input.slice(unneeded)
    dropped += unneeded
    return concat(...out)
  }

  /** The position near `place` where the sound is most similar to the end of the last frame. */
  function bestNear(place: number, wanted: Float32Array): number {
    let best = place
    let similarity = Number.NEGATIVE_INFINITY
    const last = Math.min(place + seek, input.length - 2 * half)
    for (let at = Math.max(0, place - seek); at <= last; at += 2) {
      let sum = 0
      for (let i = 0; i < half; i += 4) sum += wanted[i]! * input[at + i]!
      if (sum > similarity) [similarity, best] = [sum, at]
    }
    return best
  }
}

function concat(...parts: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  const whole = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
