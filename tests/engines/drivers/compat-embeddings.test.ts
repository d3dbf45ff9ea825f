import { afterAll, describe, expect, test } from 'bun:test'
import { createCompatDriver } from '../../../src/engines/drivers/compat-client'
import { fakeClock } from '../../support/clock'
import { seededRandom } from '../../support/random'

let answered = ''
let headers: Record<string, string> = {}
const upstream = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => new Response(answered, { headers: { 'content-type': 'application/json', ...headers } }),
})
afterAll(() => upstream.stop(true))

const driver = createCompatDriver({
  baseUrl: upstream.url.origin,
  apiKey: null,
  outputLimitField: 'max_tokens',
  clock: fakeClock(),
})
const { signal } = new AbortController()

/** The vectors of an upstream that answers this text, or what its answer is taken for. */
async function read(text: string, count = 1): Promise<unknown> {
  answered = text
  const inputs = Array.from({ length: count }, () => 'a')
  return driver.embed!({ model: 'm', inputs, dimensions: null, signal }).then(
    ({ vectors }) => vectors.map((vector) => [...vector]),
    (error: { kind: string }) => error.kind,
  )
}

const withVector = (vector: string): string => `{"data":[{"index":0,"embedding":${vector}}],"usage":{}}`

describe('vectors are read from the bytes of an answer, and mean what JSON means', () => {
  test.each([
    '[0]',
    '[1,-1,0,-0]',
    '[0.5, -0.25]',
    '[1e-7,1.5e-07,-2.5E-3,1e+2,1E5]',
    '[0.0]',
    '[12.5,123456789012345.5,1234567890123456789]',
    '[0.021036772057414055,-0.006929283495992422]',
    '[0.1234,0.12345,0.123456,0.1234567,0.12345678,0.123456789]',
    '[1e-22,1e-23,1.17549435e-38,3.4028234e38]',
    '[0.00000000000000000000001]',
    '[ 0.5 ,\n 1 ]',
  ])('%s', async (vector) => {
    const numbers: number[] = JSON.parse(vector)
    expect(await read(withVector(vector))).toEqual([numbers.map(Math.fround)])
  })

  test.each([
    '[]',
    '[[0.5]]',
    '[0.5,[1]]',
    '[0.5,"1"]',
    '[0.5,null]',
    '[NaN]',
    '[Infinity]',
    '[1e999]',
    '[1e39]',
    '[01]',
    '[.5]',
    '[5.]',
    '[+1]',
    '[--1]',
    '[1-]',
    '[-]',
    '[1e]',
    '[1e-]',
    '[0.5,]',
    '[,0.5]',
    '[0.5',
    '[0.5,1',
    '[0x10]',
    '[1 2]',
    '[٣]',
    '0',
    'null',
    '"0.5"',
    '{"0":1}',
  ])('%s is no vector', async (vector) => {
    expect(await read(withVector(vector))).toBe('malformed')
  })

  test('20,000 random numbers as each kind of server writes them', async () => {
    const random = seededRandom(7)
    for (let round = 0; round < 20; round++) {
      const numbers = Array.from({ length: 1_000 }, () => {
        const number = (random.between(-1e9, 1e9) / 1e9) * 10 ** -random.between(0, 8)
        return [number, Math.fround(number), Number(number.toPrecision(8)), Math.round(number * 9) + 0][round % 4]!
      })
      const body = { data: [{ embedding: numbers, index: 0 }] }
      for (const text of [
        JSON.stringify(body),
        JSON.stringify(body, null, 1),
        JSON.stringify(body).replaceAll(',', ', '),
      ])
        expect(await read(text)).toEqual([numbers.map(Math.fround)])
    }
  })

  test.each<[string, string, number, unknown]>([
    ['in another order', '{"data":[{"index":1,"embedding":[1]},{"index":0,"embedding":[2]}]}', 2, [[2], [1]]],
    ['one of them packed', '{"data":[{"embedding":[1]},{"embedding":"AAAAQA=="}]}', 2, [[1], [2]]],
    ['twice in one item', '{"data":[{"embedding":[1],"embedding":[2]}]}', 1, [[2]]],
    ['one not in data', '{"embedding":[9],"data":[{"embedding":[1]}]}', 1, [[1]]],
    ['zero in place of one', '{"embedding":[9],"data":[{"embedding":0}]}', 1, 'malformed'],
    ['in a text', String.raw`{"model":"\"embedding\":[9]","data":[{"embedding":[1]}]}`, 1, [[1]]],
    ['beside other letters', '{"model":"модель 東京 🎉","data":[{"embedding":[1]}]}', 1, [[1]]],
    ['too few', '{"data":[{"embedding":[1]}]}', 2, 'malformed'],
    ['too many', '{"data":[{"embedding":[1]},{"embedding":[2]}]}', 1, 'malformed'],
    ['of two lengths', '{"data":[{"embedding":[1]},{"embedding":[2,3]}]}', 2, 'malformed'],
    ['no JSON around', '{"data":[{"embedding":[1]}]', 1, 'malformed'],
    ['nothing', '', 1, 'malformed'],
  ])('%s', async (_, text, count, expected) => {
    expect(await read(text, count)).toEqual(expected)
  })

  test('a vector of more numbers than are read at once, and a body without its length', async () => {
    const numbers = Array.from({ length: 20_000 }, (_, at) => at / 4)
    expect(await read(withVector(JSON.stringify(numbers)))).toEqual([numbers])
    headers = { 'transfer-encoding': 'chunked' }
    expect(await read(withVector('[0.5]'))).toEqual([[0.5]])
    headers = {}
  })
})
