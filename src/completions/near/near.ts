import { LRUCache } from 'lru-cache'
import type { Embedder } from '../../engines'
import { sha256Hex } from '../../kernel/crypto'
import type { AnswerCache, Entry } from '../cache'
import type { Opened } from '../run'
import { gistOf } from './gist'

type Deps = {
  cache: AnswerCache
  embed: Embedder
  /** The least cosine at which two prompts count as the same. */
  threshold: number
}

/** A prompt whose answer is remembered. Its vector is made when another wording first asks for it. */
type Known = { prompt: string; cacheKey: string; vector: Float32Array | null }
export type Found = { entry: Entry; similarity: number }
export type Near = ReturnType<typeof createNear>

const MOST_PROMPTS = 20_000

/** Modes in which a prompt is a question or an order, and never a text to work on. */
const MODES: ReadonlySet<string> = new Set(['auto', 'fast', 'think', 'code'])

/**
 * The answers to the same question in other words (contract 22.1). Two prompts must have the same gist, in requests of
 * one user that are otherwise identical and plain, and then their embeddings have to agree. So the embeddings engine
 * is only called when there is an answer to find.
 */
export function createNear({ cache, embed, threshold }: Deps) {
  const prompts = new LRUCache<string, Known>({ max: MOST_PROMPTS })

  return {
    /** Makes the answer of this run findable by other wordings of its prompt. */
    note(run: Opened, resolvedMode: string): void {
      const key = MODES.has(resolvedMode) ? keyOf(run) : null
      if (key !== null) prompts.set(key, { prompt: run.ask.prompt, cacheKey: run.cacheKey!, vector: null })
    },

    /** The remembered answer to another wording of this prompt; null when there is none. */
    async find(run: Opened): Promise<Found | null> {
      const key = keyOf(run)
      const known = key === null ? undefined : prompts.get(key)
      if (!known || known.prompt === run.ask.prompt || !cache.has(known.cacheKey)) return null
      const similarity = await compare(run, known)
      const entry = similarity >= threshold ? cache.find(known.cacheKey) : null
      return entry && { entry, similarity }
    },
  }

  /** Equal for requests that differ in the wording of the prompt alone; null for one that is not compared. */
  function keyOf(run: Opened): string | null {
    const gist = run.promptlessKey !== null && isPlain(run) ? gistOf(run.ask.prompt) : null
    return gist === null ? null : sha256Hex(`${run.promptlessKey}\n${gist}`)
  }

  async function compare({ ask, deadline }: Opened, known: Known): Promise<number> {
    const texts = known.vector ? [ask.prompt] : [ask.prompt, known.prompt]
    const vectors = await embed(texts, deadline.signal)
    if (!vectors) return 0
    known.vector ??= vectors[1]!
    return cosine(vectors[0]!, known.vector)
  }
}

/**
 * Whether the prompt alone says what is to be done. A persona, a style, a memory or a skill may turn it into a text to
 * work on (`Translate all that I write`), and routing rules read its exact words: then every wording counts.
 */
const isPlain = ({ ask, soul, memories, active, guidance }: Opened): boolean =>
  MODES.has(ask.mode) &&
  typeof ask.voice.persona === 'string' &&
  ask.voice.style === null &&
  [ask.context, ask.after, ask.images, ask.tools, memories].every(({ length }) => length === 0) &&
  !ask.sealed &&
  !ask.json &&
  ask.functions === null &&
  soul === null &&
  active.fingerprint === null &&
  !guidance?.rules.length

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
