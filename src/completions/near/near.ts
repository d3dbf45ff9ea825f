import { LRUCache } from 'lru-cache'
import type { Embedder } from '../../engines'
import { sha256Hex } from '../../kernel/crypto'
import type { AnswerCache, Entry } from '../cache'
import type { Opened } from '../run'
import { gistOf } from './gist'

type Deps = {
  cache: AnswerCache
  embed: Embedder
  /** The least cosine at which two prompts count as one. */
  threshold: number
}

/** A prompt whose answer is remembered, and its vector once somebody asked alike. */
type Known = { prompt: string; cacheKey: string; vector: Float32Array | null }
export type Found = { entry: Entry; similarity: number }
export type Near = ReturnType<typeof createNear>

const MOST_PROMPTS = 20_000

/**
 * Answers to the same question in other words (contract 22.1). Only prompts with the same gist are compared
 * at all, within one user's requests that are otherwise identical; an embedding then has to agree. So a
 * request costs a call to the embeddings engine only where there is something to find.
 */
export function createNear({ cache, embed, threshold }: Deps) {
  const prompts = new LRUCache<string, Known>({ max: MOST_PROMPTS })

  return {
    /** Makes the answer of this run findable by other wordings of its prompt. */
    note(run: Opened): void {
      const place = placeOf(run)
      if (place !== null) prompts.set(place, { prompt: run.ask.prompt, cacheKey: run.cacheKey!, vector: null })
    },

    /** An answer that is served now to a prompt that means the same; null when none is. */
    async find(run: Opened): Promise<Found | null> {
      const place = placeOf(run)
      const known = place === null ? undefined : prompts.get(place)
      if (!known || known.prompt === run.ask.prompt || !cache.has(known.cacheKey)) return null
      const similarity = await compare(run, known)
      const entry = similarity >= threshold ? cache.find(known.cacheKey) : null
      return entry && { entry, similarity }
    },
  }

  /** Rules read the words of a prompt and not its meaning, so under them every wording is a request of its own. */
  function placeOf({ kin, ask, guidance }: Opened): string | null {
    if (kin === null || ask.attachments.length > 0 || guidance?.rules.length) return null
    const gist = gistOf(ask.prompt)
    return gist === null ? null : sha256Hex(`${kin}\n${gist}`)
  }

  async function compare({ ask, deadline }: Opened, known: Known): Promise<number> {
    const texts = known.vector ? [ask.prompt] : [ask.prompt, known.prompt]
    const vectors = await embed(texts, deadline.signal)
    if (!vectors) return 0
    known.vector ??= vectors[1]!
    return cosine(vectors[0]!, known.vector)
  }
}

/** 0 for vectors that cannot be compared. */
function cosine(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return 0
  let [dot, left, right] = [0, 0, 0]
  for (let at = 0; at < a.length; at++) {
    dot += a[at]! * b[at]!
    left += a[at]! ** 2
    right += b[at]! ** 2
  }
  return left && right ? dot / Math.sqrt(left * right) : 0
}
