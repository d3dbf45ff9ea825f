import { LRUCache } from 'lru-cache'
import type { FinishedBecause } from '../agent/schema'
import type { ToolCall } from '../engines'
import type { Clock } from '../kernel/clock'
import type { CompletionId, FollowUp, ModelRef, Routing, SkillActive, StructuredOutput, ToolUse } from './schema'

/** An answer as it is remembered: everything but whose request it was. */
export type StoredAnswer = {
  id: CompletionId
  createdAt: number
  content: string
  resolvedMode: string
  model: ModelRef
  finish: FinishedBecause
  toolsUsed: ToolUse[]
  /** Calls of the client's own functions (contract 4). */
  toolCalls: readonly ToolCall[]
  /** Why the content is not what `response_format` asked for; null when it is (contract 4). */
  refusal: string | null
  artifacts: Record<string, unknown>[]
  followUps: FollowUp[]
  skillsActive: SkillActive[]
  structuredOutput: StructuredOutput | undefined
  routing: Routing
  warnings: string[]
  promptTokens: number
  completionTokens: number
}

const MAX_BYTES = 64 * 1024 * 1024

const weightOf = (uses: ToolUse[]): number => (uses.length ? JSON.stringify(uses).length : 0)

/**
 * Answers by the hash of everything that shaped them (contract 22.1), bounded in memory, each for its
 * time. Also knows which are being made, so that identical requests wait for one run instead of paying twice.
 */
export function createAnswerCache({ clock }: { clock: Clock }) {
  const entries = new LRUCache<string, { answer: StoredAnswer; until: number }>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ answer }, key) => key.length + 1024 + 2 * (answer.content.length + weightOf(answer.toolsUsed)),
  })
  const inFlight = new Map<string, Promise<StoredAnswer | null>>()

  return {
    get(key: string): StoredAnswer | null {
      const entry = entries.get(key)
      if (!entry) return null
      if (entry.until > clock.monotonic()) return entry.answer
      entries.delete(key)
      return null
    },

    put(key: string, answer: StoredAnswer, ttlS: number): void {
      if (ttlS > 0) entries.set(key, { answer, until: clock.monotonic() + ttlS * 1000 })
    },

    /** The run already making this answer, if there is one; it yields null when it failed. */
    pending: (key: string): Promise<StoredAnswer | null> | undefined => inFlight.get(key),

    /** Announces a run; the returned function ends it, with the answer or without. */
    lead(key: string): (answer: StoredAnswer | null) => void {
      const { promise, resolve } = Promise.withResolvers<StoredAnswer | null>()
      inFlight.set(key, promise)
      return (answer) => {
        if (inFlight.get(key) === promise) inFlight.delete(key)
        resolve(answer)
      }
    },

    clear: () => entries.clear(),
  }
}

export type AnswerCache = ReturnType<typeof createAnswerCache>
