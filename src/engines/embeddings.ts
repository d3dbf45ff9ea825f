import type { Clock } from '../kernel/clock'
import { setting, type Values } from '../kernel/config'
import { errorFields, type Log } from '../kernel/log'
import { trustedFetch } from '../kernel/outbound'
import { checker, type Static, t } from '../kernel/schema'
import { createBreaker } from './breaker'
import { readText } from './drivers/compat/body'
import { holdLeash } from './drivers/leash'

export const embeddingSettings = {
  embeddingsBaseUrl: setting({
    env: 'SVC_EMBEDDINGS_BASE_URL',
    schema: t.String({ pattern: '^(https?://[^\\s]+)?$' }),
    default: '',
    about: 'Base address of a server that answers POST /embeddings, such as http://127.0.0.1:8080/v1.',
  }),
  embeddingsApiKey: setting({
    env: 'SVC_EMBEDDINGS_API_KEY',
    schema: t.String(),
    default: '',
    about: 'The key sent to SVC_EMBEDDINGS_BASE_URL as a bearer token.',
    secret: true,
  }),
  embeddingsModel: setting({
    env: 'SVC_EMBEDDINGS_MODEL',
    schema: t.String({ minLength: 1 }),
    default: 'default',
    about: 'The model name sent to SVC_EMBEDDINGS_BASE_URL.',
  }),
}

/** One vector per text, in order; null when the server gives none. Rejects only when the caller has left. */
export type Embedder = (texts: readonly string[], signal: AbortSignal) => Promise<readonly Float32Array[] | null>

type Deps = {
  settings: Values<typeof embeddingSettings>
  clock: Clock
  log: Log
}

/** Short, because every caller can do without embeddings. */
const TIMEOUT_MS = 1_000
const MOST_DIMENSIONS = 16_384

const Answer = t.Object({
  data: t.Array(
    t.Object({ index: t.Integer({ minimum: 0 }), embedding: t.Array(t.Number(), { maxItems: MOST_DIMENSIONS }) }),
  ),
})
const answer = checker(Answer)

/**
 * Embeds texts with any server that has `POST /embeddings`; null when none is configured. A circuit breaker
 * pauses the calls to a server that keeps failing, as with engines (contract 22.3).
 */
export function createEmbedder({ settings, clock, log }: Deps): Embedder | null {
  const { embeddingsBaseUrl, embeddingsApiKey, embeddingsModel: model } = settings
  if (!embeddingsBaseUrl) return null
  const url = `${embeddingsBaseUrl.replace(/\/+$/, '')}/embeddings`
  const authorization: Record<string, string> = embeddingsApiKey ? { authorization: `Bearer ${embeddingsApiKey}` } : {}
  const headers = { 'content-type': 'application/json', ...authorization }
  const breaker = createBreaker(clock)

  return async function embed(texts, signal) {
    if (!breaker.admits()) return null
    try {
      const vectors = await ask(texts, signal)
      breaker.succeeded()
      return vectors
    } catch (error) {
      if (signal.aborted) {
        breaker.abandoned()
        throw error
      }
      breaker.failed()
      log.warn(errorFields(error), 'the embeddings engine gave no usable answer')
      return null
    }
  }

  async function ask(texts: readonly string[], caller: AbortSignal): Promise<Float32Array[]> {
    const leash = holdLeash(caller, { clock, timeoutMs: TIMEOUT_MS })
    try {
      const body = JSON.stringify({ model, input: texts, encoding_format: 'float' })
      const response = await trustedFetch(url, { method: 'POST', headers, body, signal: leash.signal })
      if (response.status !== 200) throw new Error(`the embeddings engine answered with status ${response.status}`)
      const text = await readText(response, leash)
      leash.finished()
      return vectorsOf(JSON.parse(text), texts.length)
    } catch (error) {
      throw leash.explain(error)
    } finally {
      leash.release()
    }
  }
}

/** The vectors in the order of the texts, all of one length. */
function vectorsOf(value: unknown, count: number): Float32Array[] {
  if (answer.issues(value).length > 0) throw new Error('the embeddings engine did not answer with embeddings')
  const { data } = value as Static<typeof Answer>
  const vectors = data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => Float32Array.from(embedding))
  const size = vectors[0]?.length ?? 0
  const fits = vectors.length === count && size > 0 && vectors.every((vector) => vector.length === size)
  if (!fits) throw new Error('the embeddings engine did not answer with one embedding a text')
  return vectors
}
