import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { addEncoded, cellOf, encode, noCalls, percentiles } from '../../src/usage/buckets'

const latency = fc.oneof(fc.nat(300), fc.nat(120_000), fc.nat(2 ** 31 - 1))

function histogramOf(latencies: readonly number[], times = 1) {
  const histogram = noCalls()
  for (const ms of latencies) histogram[cellOf(ms)]! += times
  return histogram
}

describe('a histogram of latencies', () => {
  test('is read back as it was written, and adds up', () => {
    fc.assert(
      fc.property(fc.array(latency), fc.array(latency), fc.integer({ min: 1, max: 2 ** 40 }), (some, more, times) => {
        const sum = histogramOf(some, times)
        addEncoded(sum, encode(histogramOf(more)))
        const wanted = histogramOf(some, times)
        for (const ms of more) wanted[cellOf(ms)]! += 1
        expect(sum).toEqual(wanted)
        const read = noCalls()
        addEncoded(read, encode(sum))
        expect(read).toEqual(sum)
      }),
    )
  })

  test('tells each duration less than 1 % off', () => {
    fc.assert(
      fc.property(latency, (ms) => {
        const [notice] = percentiles(histogramOf([ms]), [0.5])
        expect(Math.abs(notice! - ms)).toBeLessThanOrEqual(ms / 100)
      }),
    )
  })

  test('has cells in the order of time', () => {
    fc.assert(fc.property(latency, latency, (a, b) => Math.sign(cellOf(a) - cellOf(b)) * Math.sign(a - b) >= 0))
  })

  test.each([
    [Number.MAX_SAFE_INTEGER, 2 ** 31 - 1],
    [-5, 0],
    [12.6, 13],
  ])('%d ms counts as %d', (ms, as) => {
    expect(cellOf(ms)).toBe(cellOf(as))
  })

  test('is a few bytes for one call, and of nothing says 0', () => {
    expect(encode(histogramOf([1_234])).length).toBeLessThanOrEqual(8)
    expect(encode(noCalls())).toBe('')
    expect(percentiles(noCalls(), [0.5, 0.99])).toEqual([0, 0])
  })
})
