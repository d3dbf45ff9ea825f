import type { Thought } from '../agent/schema'
import { keyIdOf, ownerOf } from '../kernel/caller'
import type { AnswerCache, StoredAnswer } from './cache'
import { cacheScopeOf } from './cache-key'
import type { Opened } from './run'

type Deps = { cache: AnswerCache; ttlS(mode: string): number }

/** Caches a finished answer for identical requests (contract 22.1); `costMicro` is its cost in micro-cents. */
export function createRemember({ cache, ttlS }: Deps) {
  return function remember(run: Opened, thought: Thought, answer: StoredAnswer, costMicro: number): void {
    const { cacheKey: key, call, ask } = run
    if (key === null || !isWorthKeeping(thought)) return
    const [scope, owner] = [cacheScopeOf(call), ownerOf(call.caller)]
    // `auto` may choose another mode later, so its answers have their own time to live (contract 22.1).
    const ttl = ttlS(ask.mode === 'auto' ? 'auto' : answer.resolvedMode)
    const about = { scope, owner, keyId: keyIdOf(call.caller), prompt: ask.prompt, ttlS: ttl }
    cache.put(key, { ...about, answer, costMicro })
  }
}

/**
 * Only complete answers are cached: not cut short, not ended early for lack of credit, and without a failed tool, as a
 * search that failed may succeed a minute later.
 */
const isWorthKeeping = ({ finish, toolUses, warnings }: Thought): boolean =>
  finish === 'stop' && warnings.length === 0 && toolUses.every(({ status }) => status === 'success')
