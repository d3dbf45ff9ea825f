import type { Thought } from '../agent/schema'
import { keyIdOf, ownerOf } from '../kernel/caller'
import type { AnswerCache, StoredAnswer } from './cache'
import { cacheScopeOf } from './cache-key'
import type { Near } from './near'
import type { Opened } from './run'

type Deps = { cache: AnswerCache; near: Near | null; ttlS(mode: string): number }

/** Keeps a finished answer for identical requests (contract 22.1); `costMicro` is what it cost. */
export function createRemember({ cache, near, ttlS }: Deps) {
  return function remember(run: Opened, thought: Thought, answer: StoredAnswer, costMicro: number): void {
    const { cacheKey: key, call, ask } = run
    if (key === null || !isWorthKeeping(thought)) return
    const [scope, owner] = [cacheScopeOf(call), ownerOf(call.caller)]
    // What `auto` chose may be chosen otherwise in a while, so its time is its own (contract 22.1).
    const ttl = ttlS(ask.mode === 'auto' ? 'auto' : answer.resolvedMode)
    const about = { scope, owner, keyId: keyIdOf(call.caller), prompt: ask.prompt, ttlS: ttl }
    cache.put(key, { ...about, answer, costMicro })
    near?.note(run, answer.resolvedMode)
  }
}

/**
 * Whole: neither cut short nor ended before its time for want of credit, and without a tool that failed; what
 * a search could not find now it may find in a minute.
 */
const isWorthKeeping = ({ finish, toolUses, warnings }: Thought): boolean =>
  finish === 'stop' && warnings.length === 0 && toolUses.every(({ status }) => status === 'success')
