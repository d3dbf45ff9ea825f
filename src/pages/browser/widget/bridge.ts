import { hasAtMost } from '../../../kernel/text'
import { hostOf } from './host'

export type Bridge = ReturnType<typeof createBridge>

/** A message of the host's page to the frame. Each value is validated where it is used. */
export type HostMessage = {
  type: string
  text?: unknown
  modal?: unknown
  inline?: unknown
  context?: unknown
  who?: unknown
}

const LONGEST_TEXT = 10_000

/**
 * Messages between the frame and the page around it. Accepts only messages of the parent window from the origin it
 * claims.
 */
export function createBridge(take: (message: HostMessage) => void) {
  const { host, ...bridge } = hostOf()

  if (bridge.isFramed) {
    addEventListener('message', ({ source, origin, data }: MessageEvent) => {
      if (source !== window.parent || origin !== host) return
      if (typeof data !== 'object' || data === null || data.target !== 'svc-widget') return
      if (typeof data.type !== 'string') return
      if (typeof data.text === 'string' && !hasAtMost(data.text, LONGEST_TEXT)) return
      take(data)
    })
  }

  return bridge
}
