import { LRUCache } from 'lru-cache'
import type { HelperAnswer } from '../kernel/helper'
import { compilePattern } from './pattern'

/** Patterns that compile, and a text to try them on; null only has them compiled. */
export type MatchOrder = { patterns: readonly string[]; text: string | null }
export type MatchAnswer = readonly boolean[]

declare const self: Worker

type Tested = { test(text: string): boolean }
const kept = new LRUCache<string, Tested>({ max: 2_000 })

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

function compiled(source: string): Tested {
  const pattern = kept.get(source) ?? compilePattern(source)
  kept.set(source, pattern)
  return pattern
}
