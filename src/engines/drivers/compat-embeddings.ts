import { trustedFetch } from '../../kernel/outbound'
import { type Driver, type Embedding, EngineFailure } from '../engine'
import { failureOfStatus } from '../failures'
import { MAX_TOTAL_BYTES, parsed, readBytes } from './compat-body'
import { type CallOptions, headersOf, PLAIN_TIMEOUT_MS, startTimeout, urlOf } from './upstream'

/** Whether the upstream makes vectors of other lengths: it does, it does not, or they are cut here. */
type Dimensions = boolean | 'cut' | undefined

/** Inputs of one call, where no setting says so. */
const BATCH = 256

export type EmbeddingOptions = { dimensions?: Dimensions; batchSize?: number | undefined }

const malformed = (what: string) => new EngineFailure('malformed', what)

/** Vectors of any server with `POST /embeddings`. Long lists are asked for in parts; all are answered or none is. */
export function createCompatEmbeddings(options: CallOptions & EmbeddingOptions): Required<Pick<Driver, 'embed'>> {
  const { clock, timeoutMs = PLAIN_TIMEOUT_MS, silenceMs, batchSize = BATCH } = options
  const headers = { ...headersOf(options), 'content-type': 'application/json' }
  return {
    async embed({ model, inputs, dimensions, signal }) {
      const passes = options.dimensions ?? model.startsWith('text-embedding-3')
      const isOther = dimensions !== null && passes === true
      const timeout = startTimeout(signal, { clock, timeoutMs, silenceMs })
      const stated: unknown[] = []
      const vectors: Float32Array[] = []
      try {
        for (let at = 0; at < inputs.length; at += batchSize) {
          const input = inputs.slice(at, at + batchSize)
          const found = await ask(
            { model, input, encoding_format: 'float', ...(isOther ? { dimensions } : {}) },
            timeout,
          )
          vectors.push(...found.vectors)
          stated.push(found.promptTokens)
        }
        timeout.finished()
      } catch (error) {
        throw timeout.explain(error)
      } finally {
        timeout.release()
      }
      if (vectors.some(({ length }) => length !== vectors[0]!.length)) throw malformed('vectors of several lengths')
      const isCut = dimensions !== null && passes === 'cut' && dimensions < vectors[0]!.length
      const counted = stated.every((tokens) => typeof tokens === 'number')
      return {
        vectors: isCut ? vectors.map((vector) => scaled(vector.subarray(0, dimensions))) : vectors,
        made: isOther ? null : vectors[0]!.length,
        promptTokens: counted ? stated.reduce((sum: number, tokens) => sum + (tokens as number), 0) : null,
      }
    },
  }

  async function ask(
    body: { model: string; input: string[]; encoding_format: string; dimensions?: number },
    timeout: ReturnType<typeof startTimeout>,
  ): Promise<Omit<Embedding, 'made'>> {
    const response = await trustedFetch(urlOf(options, '/embeddings'), {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal: timeout.signal,
    })
    timeout.heard()
    const bytes = await readBytes(response, timeout, MAX_TOTAL_BYTES)
    if (response.status !== 200)
      throw failureOfStatus(response.status, response.headers, clock.now(), decoder.decode(bytes))
    return readVectors(bytes, body.input.length)
  }
}

const decoder = new TextDecoder()

/** The vectors in the order of their inputs. Servers that know no `encoding_format` may answer either way. */
function readVectors(bytes: Uint8Array, count: number): Omit<Embedding, 'made'> {
  const { text, lifted } = liftVectors(bytes)
  const isLifted = lifted.length === count
  const wire = parsed(isLifted ? text : decoder.decode(bytes)) as { data?: unknown; usage?: unknown } | null | undefined
  if (wire === undefined) throw malformed('the answer is not JSON')
  const data = wire?.data
  if (!Array.isArray(data) || data.length !== count) throw malformed(`the answer does not hold ${count} vectors`)
  const vectors: Float32Array[] = []
  for (const [place, item] of data.entries()) {
    const index: unknown = item?.index ?? place
    if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= count || vectors[index as number])
      throw malformed('a vector has a wrong index')
    vectors[index as number] = isLifted && item?.embedding === LIFTED ? lifted[place]! : numbersOf(item?.embedding)
  }
  return { vectors, promptTokens: (wire?.usage as { prompt_tokens?: unknown } | null)?.prompt_tokens ?? null }
}

const KEY = Buffer.from('"embedding":')
/** What the text has in place of a vector that was read already. */
const LIFTED = 0

/**
 * Reads the vectors of an answer from its bytes, and gives the rest as text: parsing thousands of numbers as JSON takes
 * three times as long. Gives none where one is written in an unusual way, so that the whole is read as JSON.
 */
function liftVectors(bytes: Uint8Array): { text: string; lifted: Float32Array[] } {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const lifted: Float32Array[] = []
  let text = ''
  let from = 0
  for (let at = all.indexOf(KEY); at >= 0; at = all.indexOf(KEY, from)) {
    const start = at + KEY.length
    const found = scanVector(all, view, all[start] === BLANK ? start + 1 : start)
    if (!found) return { text, lifted: [] }
    lifted.push(found.numbers)
    text += `${all.toString('utf8', from, start)}${LIFTED}`
    from = found.end
  }
  return { text: text + all.toString('utf8', from), lifted }
}

const [BLANK, COMMA, MINUS, DOT, ZERO, OPEN, CLOSE, SMALL_E] = [0x20, 0x2c, 0x2d, 0x2e, 0x30, 0x5b, 0x5d, 0x65]
/** The upper halves of four bytes. */
const HIGH = 0xf0f0f0f0
/** Powers of ten that a number of 64 bits holds exactly. */
const POWERS = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`))
const MAX_WHOLE_DIGITS = 15
const scratch = new Float32Array(16_384)

/**
 * An array of numbers like `-0.0123` or `1.5e-7`, and the place after it; null for anything else. Digits are read four
 * at a time. A number is the one that `JSON.parse` and rounding to 32 bits give, because its digits and the power of
 * ten are exact up to 53 bits, and beyond these its error is far below 32 bits.
 */
function scanVector(bytes: Uint8Array, view: DataView, start: number): { numbers: Float32Array; end: number } | null {
  if (bytes[start] !== OPEN) return null
  let at = start + 1
  // What follows an array is longer than the four bytes that are read at once, or the answer is cut off.
  for (let count = 0; count < scratch.length && at < bytes.length - 4; ) {
    const isNegative = bytes[at] === MINUS
    if (isNegative) at++
    const first = at
    let number = 0
    for (let digit = bytes[at]! - ZERO; digit >= 0 && digit <= 9; digit = bytes[++at]! - ZERO)
      number = number * 10 + digit
    const whole = at - first
    if (whole === 0 || whole > MAX_WHOLE_DIGITS || (whole > 1 && bytes[first] === ZERO)) return null
    let places = 0
    if (bytes[at] === DOT) {
      const point = ++at
      for (; at < bytes.length - 4; at += 4) {
        const four = view.getInt32(at, true)
        // Each byte is 0x30 to 0x39.
        if ((four & HIGH) !== 0x30303030 || ((four + 0x06060606) & HIGH) !== 0x30303030) break
        const pairs = (Math.imul(four & 0x0f0f0f0f, 2_561) >>> 8) & 0x00ff00ff
        number = number * 10_000 + (Math.imul(pairs, 6_553_601) >>> 16)
      }
      for (let digit = bytes[at]! - ZERO; digit >= 0 && digit <= 9; digit = bytes[++at]! - ZERO)
        number = number * 10 + digit
      places = at - point
      if (places === 0) return null
    }
    if (bytes[at] === SMALL_E) {
      if (bytes[++at] !== MINUS) return null
      const sign = at++
      let power = 0
      for (let digit = bytes[at]! - ZERO; digit >= 0 && digit <= 9; digit = bytes[++at]! - ZERO)
        power = power * 10 + digit
      if (at - sign < 2) return null
      places += power
    }
    if (places >= POWERS.length) return null
    scratch[count++] = (isNegative ? -number : number) / POWERS[places]!
    const next = bytes[at++]
    if (next === CLOSE) return { numbers: scratch.slice(0, count), end: at }
    if (next !== COMMA) return null
    if (bytes[at] === BLANK) at++
  }
  return null
}

/** Loops, because the functions of arrays take ten times as long, and each text has a thousand numbers and more. */
function numbersOf(value: unknown): Float32Array {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'base64') : null
  const length = bytes ? Math.floor(bytes.length / 4) : Array.isArray(value) ? value.length : 0
  const numbers = new Float32Array(length)
  for (let at = 0; at < length; at++) {
    const number: unknown = bytes ? bytes.readFloatLE(at * 4) : (value as unknown[])[at]
    numbers[at] = typeof number === 'number' ? number : Number.NaN
    if (!Number.isFinite(numbers[at])) throw malformed('a vector has no finite numbers')
  }
  if (!length) throw malformed('a vector is empty')
  return numbers
}

function scaled(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector)
  return length > 0 ? vector.map((number) => number / length) : vector
}
