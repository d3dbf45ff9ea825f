import { parsedJson } from '../../kernel/json'
import { type Driver, type Embedding, EngineFailure } from '../engine'
import { readText } from './compat-body'
import { type CallOptions, headersOf, send, urlOf, withoutRefused, withTimeout } from './upstream'

/** Whether the upstream supports other lengths: true, false, or `cut` if vectors are cut here. */
type Dimensions = boolean | 'cut' | undefined

/** Default number of inputs per call. */
const BATCH = 256

export type EmbeddingOptions = { dimensions?: Dimensions; batchSize?: number | undefined }

const malformed = (what: string) => new EngineFailure('malformed', what)

/** Vectors by any server with `POST /embeddings`. Splits long lists into several calls. If one fails, all fail. */
export function createCompatEmbeddings(options: CallOptions & EmbeddingOptions): Required<Pick<Driver, 'embed'>> {
  const { batchSize = BATCH } = options
  const headers = { ...headersOf(options), 'content-type': 'application/json' }
  return {
    async embed({ model, inputs, dimensions, signal }) {
      const passes = options.dimensions ?? model.startsWith('text-embedding-3')
      const isOther = dimensions !== null && passes === true
      const stated: unknown[] = []
      const vectors: Float32Array[] = []
      await withTimeout(signal, options, async (timeout) => {
        for (let at = 0; at < inputs.length; at += batchSize) {
          const input = inputs.slice(at, at + batchSize)
          const body = { model, input, encoding_format: 'float', ...(isOther ? { dimensions } : {}) }
          const response = await withoutRefused(body, ['encoding_format'], (left) =>
            send(urlOf(options, '/embeddings'), options, timeout, {
              ...{ method: 'POST', headers },
              body: JSON.stringify(left),
            }),
          )
          const found = readVectors(await readText(response, timeout), input.length)
          vectors.push(...found.vectors)
          stated.push(found.promptTokens)
        }
      })
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
}

/** The vectors in the order of their inputs, from floats or base64, because servers may ignore `encoding_format`. */
function readVectors(text: string, count: number): Omit<Embedding, 'made'> {
  const wire = parsedJson(text) as { data?: unknown; usage?: Record<string, unknown> } | null | undefined
  if (wire === undefined) throw malformed('the answer is not JSON')
  const data = wire?.data
  if (!Array.isArray(data) || data.length !== count) throw malformed(`the answer does not hold ${count} vectors`)
  const vectors: Float32Array[] = []
  for (const [place, item] of data.entries()) {
    const index: unknown = item?.index ?? place
    if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= count || vectors[index as number])
      throw malformed('a vector has a wrong index')
    vectors[index as number] = numbersOf(item?.embedding)
  }
  return { vectors, promptTokens: wire?.usage?.prompt_tokens ?? wire?.usage?.total_tokens ?? null }
}

/** A loop for speed: array functions take ten times as long, and each text has a thousand numbers or more. */
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
