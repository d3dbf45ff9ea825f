import type { ChargingService } from '../charging'
import type { Cached, CompletionService } from '../completions'
import { type EngineService, LOCAL_EMBEDDING as LOCAL, LOCAL_LENGTH, originOf } from '../engines'
import { type Call, keyIdOf, ownerOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { randomBase62, sha256Hex } from '../kernel/crypto'
import { AppError, defineError, invalidInput, notFound } from '../kernel/errors'
import { timePart } from '../kernel/ids'
import { namedObject, nullable, oneOf, RequestId, type Static, t } from '../kernel/schema'
import { createWorkerPool } from '../kernel/worker-pool'
import type { TokenAnswer, TokenTask } from './tokens.worker'

const MODEL = 'svc-1-embed'
const MAX_INPUTS = 2_048
const MAX_TOKENS = 300_000

const Text = t.String({ minLength: 1 })
const Tokens = t.Array(t.Integer(), { minItems: 1 })

export const EmbeddingInput = namedObject('EmbeddingOrder', {
  model: t.Optional(
    nullable(
      t.String({
        maxLength: 200,
        description: `\`${MODEL}\` or \`${LOCAL}\``,
      }),
    ),
  ),
  input: t.Union(
    [
      Text,
      t.Array(Text, { minItems: 1, maxItems: MAX_INPUTS }),
      Tokens,
      t.Array(Tokens, { minItems: 1, maxItems: MAX_INPUTS }),
    ],
    {
      description: 'A text or several, also as arrays of token ids of the vocabulary `SVC_EMBED_TOKENS`',
    },
  ),
  encoding_format: t.Optional(
    nullable(
      oneOf(['float', 'base64'] as const, {
        description: 'base64: 32-bit floats, little-endian; default float',
      }),
    ),
  ),
  dimensions: t.Optional(
    nullable(
      t.Integer({
        minimum: 1,
        maximum: 4_096,
        description: 'Numbers of each vector',
      }),
    ),
  ),
  user: t.Optional(nullable(t.String({ description: 'Only its SHA-256 is kept' }))),
})

export const EmbeddingList = namedObject('EmbeddingList', {
  id: t.String({ description: 'Begins with emb_; some clients require it' }),
  object: t.Literal('list'),
  data: t.Array(
    t.Object({
      object: t.Literal('embedding'),
      index: t.Integer(),
      embedding: t.Union([t.Array(t.Number()), t.String()]),
    }),
  ),
  model: t.String(),
  usage: t.Object({ prompt_tokens: t.Integer(), total_tokens: t.Integer() }),
  svc_metadata: t.Object({
    cost_cents: t.Number(),
    vector_space: t.String({
      description: 'Vectors of another space do not compare with these',
    }),
    warnings: t.Optional(t.Array(t.String())),
  }),
  request_id: t.Optional(RequestId),
})

const embeddingsUnavailable = defineError(
  'embeddings_unavailable',
  () =>
    'This server has no engine for embeddings. Its operator can set SVC_EMBED_BASE_URL to a server with /embeddings.',
)

export type EmbeddingDeps = {
  charging: Pick<ChargingService, 'run'>
  engines: Pick<EngineService, 'embed' | 'named' | 'hasSound' | 'vectorWindow' | 'vectorSpace' | 'countTokens'>
  completions: Pick<CompletionService, 'cache'>
  clock: Pick<Clock, 'now'>
  config: {
    production: boolean
    engineBuiltin: boolean
    embedTokens: TokenTask['vocabulary'] | 'off'
    cacheTtlEmbedding: number
  }
}

type Vectors = { vectors: Float32Array[]; model: string; promptTokens: unknown }

type EmbeddingCall = {
  /** The model in the path. */
  named: string | null
  /** Skips the lookup of known vectors and renews them. */
  fresh: boolean
  /** Called before an upstream is called. `isHit` is true if all vectors were known. */
  looked(isHit: boolean): void
}

/**
 * Vectors of texts, in their order, charged by their tokens. Texts are never cut. Known vectors are free. Throws 400
 * `context_length_exceeded`, 503 `embeddings_unavailable`, and what `charging.run` throws.
 */
export async function embed(
  deps: EmbeddingDeps,
  call: Call,
  input: Static<typeof EmbeddingInput>,
  { named, fresh, looked }: EmbeddingCall,
) {
  const { charging, engines } = deps
  const inputs = await textsIn(input.input, call, deps.config.embedTokens)
  const counts = countsOf(deps, inputs, listOf(input.input))
  const { engineId, warnings } = engineFor(deps, engines.named(named ?? input.model ?? ''))
  const free = engineId === LOCAL
  const tokens = counts.reduce((sum, count) => sum + count, 0)
  const dimensions = input.dimensions ?? null
  const known = free ? null : knownVectors(deps, call, dimensions)
  const id = `emb_${timePart(deps.clock.now())}${randomBase62(16)}`
  const answer = await charging.run(call, {
    kind: 'embedding',
    id,
    mode: 'embedding',
    engineId,
    free,
    texts: Object.fromEntries(inputs.map((text, at) => [`input.${at}`, text])),
    // The upstream counts tokens differently. Its count decides the price, up to twice ours.
    max: { promptTokens: 2 * tokens },
    reads: tokens,
    facts: {
      metadata: { inputs: inputs.length, tokens },
      ...(input.user ? { end_user_sha256: sha256Hex(input.user) } : {}),
    },
    async rest(texts) {
      await known?.find(Object.values(texts), fresh)
      looked(known?.missing().length === 0)
      const left = known ? leftOf(known.missing()) : tokens
      return { max: { promptTokens: 2 * left }, reads: left }
    },
    async make({ texts, signal }) {
      const all = Object.values(texts)
      const missing = known?.missing() ?? all.map((_, at) => at)
      if (!missing.length)
        return { vectors: known!.all(), model: known!.model, used: { promptTokens: 0 }, files: [], cached: true }
      const request = { inputs: missing.map((at) => all[at]!), dimensions, signal }
      const found = free ? await embedLocally(request) : await engines.embed({ ...request, origin: originOf(call) })
      const { length } = found.vectors[0]!
      if (dimensions && dimensions !== length)
        throw invalidInput('dimensions', `The engine makes vectors of ${length} numbers. Send that, or leave it out.`)
      const [stated, counted] = [found.promptTokens, leftOf(missing)]
      const isCredible = Number.isSafeInteger(stated) && (stated as number) > 0 && (stated as number) <= 2 * counted
      const used = { promptTokens: isCredible ? (stated as number) : counted }
      known?.bring(found.vectors)
      return { vectors: known?.all() ?? found.vectors, model: found.model, used, files: [] }
    },
    answer: ({ made, costMicro, costCents, at }) => {
      const packed = input.encoding_format === 'base64' ? made.vectors.map(base64Of) : null
      known?.note(id, at, costMicro, packed)
      const count = made.used.promptTokens
      return {
        id,
        object: 'list' as const,
        data: made.vectors.map((vector, index) => ({
          object: 'embedding' as const,
          index,
          embedding: packed?.[index] ?? numbersOf(vector),
        })),
        model: engineId,
        usage: { prompt_tokens: count, total_tokens: count },
        svc_metadata: {
          cost_cents: costCents,
          vector_space: sha256Hex(`${made.model}:${made.vectors[0]!.length}`).slice(0, 12),
          ...(warnings.length ? { warnings } : {}),
        },
      }
    },
  })
  known?.keep()
  return answer

  function leftOf(missing: readonly number[]): number {
    return missing.reduce((sum, at) => sum + counts[at]!, 0)
  }
}

/**
 * The cached vectors for one call: exact, per owner and vector space (docs/api.md 31). Null if caching is off, or while
 * the length of the engine's vectors is unknown.
 */
function knownVectors({ completions, engines, config }: EmbeddingDeps, { caller }: Call, dimensions: number | null) {
  const { cache } = completions
  const space = engines.vectorSpace()
  const ttlS = config.cacheTtlEmbedding
  if (!cache || ttlS === 0 || !space || space.length === null) return null
  const owner = ownerOf(caller)
  const prefix = JSON.stringify(['embedding', owner, space.model, space.length, dimensions])
  let hashes: readonly string[] = []
  let keys: string[] = []
  let vectors: (Float32Array | null)[] = []
  let made: number[] = []
  let origin = { id: '', createdAt: 0, costMicro: 0 }
  let written: readonly string[] | null = null
  return {
    model: space.model,
    missing: () => vectors.flatMap((vector, at) => (vector ? [] : at)),
    all: () => vectors as Float32Array[],

    /** `fresh`: treats no vector as known. */
    async find(given: readonly string[], fresh: boolean): Promise<void> {
      hashes = given.map((text) => sha256Hex(text))
      keys = hashes.map((hash) => sha256Hex(`${prefix}\n${hash}`))
      if (!fresh) await Promise.all(keys.map((key) => cache.look(key)))
      vectors = keys.map((key) => {
        const found = fresh ? null : cache.get<Cached>(key)
        if (!found) cache.missed()
        return found && vectorOf(found.content)
      })
    },

    /** Adds the vectors of the missing texts, in their order. */
    bring(found: readonly Float32Array[]): void {
      made = this.missing()
      for (const [place, at] of made.entries()) vectors[at] = found[place]!
    },

    /** `packed`: all vectors as Base64, if the answer has them in that form. */
    note(id: string, createdAt: number, costMicro: number, packed: readonly string[] | null): void {
      origin = { id, createdAt, costMicro }
      written = packed
    },

    /** Stores the new vectors, once they are paid for. */
    keep(): void {
      const { costMicro, ...from } = origin
      const shared = {
        scope: owner,
        owner,
        keyId: keyIdOf(caller),
        ttlS,
        costMicro: Math.ceil(costMicro / made.length),
      }
      for (const at of made) {
        const content = written?.[at] ?? base64Of(vectors[at]!)
        const answer = { ...from, content, resolvedMode: 'embedding', model: { id: MODEL } }
        cache.put(keys[at]!, { ...shared, promptHash: hashes[at]!, answer })
      }
    },
  }
}

function vectorOf(base64: string): Float32Array {
  const { buffer, byteOffset, byteLength } = Buffer.from(base64, 'base64')
  return new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength))
}

/** A worker, because loading a vocabulary would block the event loop for too long. */
const vocabularies = createWorkerPool<TokenTask, TokenAnswer>({
  script: new URL('./tokens.worker.ts', import.meta.url),
  max: 1,
  idleMs: 600_000,
})
const READING_MS = 10_000

/** Token arrays as text. Packages of another vendor cut texts with its vocabulary, and send the tokens. */
async function textsIn(
  input: Static<typeof EmbeddingInput>['input'],
  { caller, signal }: Call,
  vocabulary: EmbeddingDeps['config']['embedTokens'],
): Promise<string[]> {
  const inputs = listOf(input)
  if (inputs.every((one) => typeof one === 'string')) return inputs
  if (vocabulary === 'off')
    throw invalidInput('input', 'This server reads no arrays of token ids. Send the texts themselves as "input".')
  const lists = inputs as number[][]
  const count = lists.reduce((sum, { length }) => sum + length, 0)
  if (count > MAX_TOKENS) throw tooLong('input', MAX_TOKENS, count)
  const limits = { timeoutMs: READING_MS, signal, who: caller.userId }
  const answer = await vocabularies.run({ vocabulary, lists }, limits)
  if ('texts' in answer) return answer.texts
  const { list, id } = answer.unknown
  throw invalidInput(
    lists.length > 1 ? `input.${list}` : 'input',
    `The vocabulary ${vocabulary} has no token ${id}. Send the texts themselves, or ids of ${vocabulary}.`,
  )
}

/** Each input by itself: a text, or its token ids. */
const listOf = (input: Static<typeof EmbeddingInput>['input']): unknown[] =>
  typeof input === 'string' || typeof input[0] === 'number' ? [input] : input

/**
 * Token counts of the texts. `sent` may hold their token ids. Throws 400 `context_length_exceeded` if one text or all
 * together are too long.
 */
function countsOf({ engines }: EmbeddingDeps, texts: readonly string[], sent: readonly unknown[]): number[] {
  const max = engines.vectorWindow()
  const counts = texts.map((text, at) => {
    const ids = sent[at]
    return Array.isArray(ids) ? ids.length : engines.countTokens(text)
  })
  const place = counts.findIndex((count) => count > max)
  if (place >= 0) throw tooLong(`input.${place}`, max, counts[place]!)
  const sum = counts.reduce((total, count) => total + count, 0)
  if (sum > MAX_TOKENS) throw tooLong('input', MAX_TOKENS, sum)
  return counts
}

function tooLong(path: string, max: number, tokens: number): AppError {
  const message =
    `This model's maximum context length is ${max} tokens. However, your "${path}" resulted in ${tokens} tokens. ` +
    'Send less at a time; nothing is cut.'
  return new AppError('context_length_exceeded', message, {
    param: path,
    details: [{ path, message }],
  })
}

/** The engine that makes the vectors. Vectors of another model never replace an upstream's. */
function engineFor({ engines, config }: EmbeddingDeps, word: string): { engineId: string; warnings: string[] } {
  if (word === LOCAL) {
    if (!config.engineBuiltin) throw notFound('model')
    return { engineId: LOCAL, warnings: [] }
  }
  const warnings =
    word === '' || word === MODEL ? [] : [`There is no model "${word}" for embeddings here. "${MODEL}" was used.`]
  if (engines.hasSound(MODEL)) return { engineId: MODEL, warnings }
  if (config.production || !config.engineBuiltin) throw embeddingsUnavailable.with({ retryAfterS: 60 })
  const local = `No engine for embeddings is connected, so "${LOCAL}" was used. It compares spelling, not meaning, and its vectors do not mix with those of a model.`
  return { engineId: LOCAL, warnings: [...warnings, local] }
}

/** Little-endian, like every machine that this runs on. */
const base64Of = ({ buffer, byteOffset, byteLength }: Float32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64')

/** A loop, because the functions of arrays take three times as long. */
function numbersOf(vector: Float32Array): number[] {
  const numbers = new Array<number>(vector.length)
  for (let at = 0; at < vector.length; at++) numbers[at] = vector[at]!
  return numbers
}

/** Lengths of the pieces of a word, in characters. */
const PIECES = [3, 4, 5]

/** Yields after each text of a long list, so that other work gets a turn. */
async function embedLocally({ inputs }: { inputs: readonly string[] }): Promise<Vectors> {
  const vectors: Float32Array[] = []
  for (const text of inputs) {
    vectors.push(localVector(text))
    if (inputs.length > 1) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return { vectors, model: LOCAL, promptTokens: null }
}

/**
 * 512 numbers by fixed rules: the words of a text and their pieces, hashed with a sign. Texts that share words and
 * stems are near each other. These rules never change, because clients store vectors. Another scheme needs another id.
 */
function localVector(text: string): Float32Array {
  const counts = new Map<string, number>()
  const add = (piece: string) => counts.set(piece, (counts.get(piece) ?? 0) + 1)
  for (const word of text
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []) {
    add(word)
    const letters = [...`<${word}>`]
    for (const size of PIECES)
      for (let at = 0; at + size <= letters.length; at++) add(`#${letters.slice(at, at + size).join('')}`)
  }
  const sums = new Float64Array(LOCAL_LENGTH)
  for (const [piece, count] of counts) {
    // FNV-1a of the UTF-8 bytes, 32 bits.
    let hash = 0x811c9dc5
    for (const byte of Buffer.from(piece)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
    sums[hash % LOCAL_LENGTH]! += (hash & 0x10000 ? 1 : -1) * Math.log(1 + count)
  }
  const length = Math.hypot(...sums)
  return Float32Array.from(sums, (sum) => (length > 0 ? sum / length : 0))
}
