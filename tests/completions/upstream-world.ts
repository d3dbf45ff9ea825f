import { afterAll } from 'bun:test'
import type { ConfigOverrides } from '../../src/app/config'
import type { Clock } from '../../src/kernel/clock'
import { startUpstream, type UpstreamOptions } from '../support/upstream'
import { createWorld } from '../support/world'

type Options = { config?: ConfigOverrides; clock?: Clock; isAlone?: boolean; upstream?: UpstreamOptions }

/** The product with a scripted upstream behind every text mode. */
export async function createUpstreamWorld({
  config = {},
  clock,
  isAlone = false,
  upstream: script = {},
}: Options = {}) {
  const upstream = await startUpstream(script)
  const world = await createWorld({
    config: { engineBaseUrl: upstream.url, engineModel: 'scripted', ...config },
    ...(clock ? { clock } : {}),
    isAlone,
  })
  afterAll(() => upstream.stop())
  return { world, upstream }
}

/** What the upstream was told before the conversation: the system prompt, or null. */
export function systemOf(body: Record<string, unknown>): string | null {
  const [first] = body.messages as { role: string; content: string }[]
  return first?.role === 'system' ? first.content : null
}

let requested = 0
/** A prompt nobody asked before, so that no cache knows it. */
export const freshPrompt = (words = 'Tell me something'): string => `${words} ${++requested}`
