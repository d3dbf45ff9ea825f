export type Bridge = ReturnType<typeof createBridge>

/** What the host's page may tell the frame; each value is checked by whoever takes it. */
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
 * said it has; what is told goes to that origin alone and never has a token or a text of the chat in it.
 */
export function createBridge(take: (message: HostMessage) => void) {
  const told = new URLSearchParams(location.hash.slice(1))
  const said = told.get('origin')
  // Where the browser knows the parent's origin, what the address says must be the same.
  const known = location.ancestorOrigins?.[0]
  const host = known ?? said
  const isFramed = window.parent !== window && host !== null

  if (isFramed) {
    addEventListener('message', ({ source, origin, data }: MessageEvent) => {
      if (source !== window.parent || origin !== host) return
      if (typeof data !== 'object' || data === null || data.target !== 'svc-widget') return
      if (typeof data.type !== 'string') return
      if (typeof data.text === 'string' && data.text.length > LONGEST_TEXT) return
      take(data)
    })
  }

  return {
    isFramed,
    /** Drawn inside an element of the host, without a launcher. */
    isInline: told.get('inline') === '1' || !isFramed,
    pageUrl: told.get('page') ?? null,
    scheme: told.get('scheme'),
    lang: told.get('lang'),
    tell(type: string, more: object = {}): void {
      if (isFramed) window.parent.postMessage({ source: 'svc-widget', type, ...more }, host)
    },
  }
}
