import { createBuiltinDriver } from '../../../src/engines/builtin/client'
import type { EngineRequest } from '../../../src/engines/engine'
import { plain } from '../../suites/engine.suite'

/** A Wednesday. */
const NOW = Date.parse('2026-03-04T10:20:00.000Z')

export const builtin = createBuiltinDriver({ clock: { now: () => NOW, sleep: async () => undefined } })

/** What the built-in engine says to one prompt. */
export async function ask(prompt: string, more: Partial<EngineRequest> = {}): Promise<string> {
  const answer = await plain(builtin, {
    model: 'builtin',
    mode: 'fast',
    messages: [{ role: 'user', content: prompt }],
    maxOutputTokens: 4_000,
    signal: new AbortController().signal,
    ...more,
  })
  return answer.text
}
