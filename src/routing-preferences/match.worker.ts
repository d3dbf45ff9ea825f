import { LRUCache } from 'lru-cache'
import type { HelperAnswer } from '../kernel/helper'
import { compilePattern, type RulePattern } from './pattern'

/** Patterns that compile, and a text to try them on; null only has them compiled. */
export type MatchOrder = { patterns: readonly string[]; text: string | null }
export type MatchAnswer = readonly boolean[]

declare const self: Worker

const kept = new LRUCache<string, RulePattern>({ max: 2_000 })

self.onmessage = ({ data }: MessageEvent<MatchOrder>) => {
  self.postMessage(answered(data))
}

function answered({ patterns, text }: MatchOrder): HelperAnswer<MatchAnswer> {
  try {
    const ready = patterns.map(compiled)
    return { ok: true, answer: text === null ? [] : ready.map((pattern) => pattern.test(text)) }
  } catch (error) {
    return { ok: false, problem: String(error) }
  }
}

function compiled(source: string): RulePattern {
  const pattern = kept.get(source) ?? compilePattern(source)
  kept.set(source, pattern)
  return pattern
}
