import { hasAtMost } from '../../../kernel/text'
import { hostOf } from './host'

export type Bridge = ReturnType<typeof createBridge>

/** What the host's page may tell the frame; each value is checked where it is used. */
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
 * Messages between the frame and the page around it. Only the parent window is heard, and only from the origin that it
 * said it has.
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
