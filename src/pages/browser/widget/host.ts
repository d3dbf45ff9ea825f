/** The frame's place in the host's page, from its address and the browser. */
export function hostOf() {
  const parameters = new URLSearchParams(location.hash.slice(1))
  const text = parameters.get('origin')
  // If the browser knows the parent's origin, it overrides the one in the address.
  const known = location.ancestorOrigins?.[0]
  const host = known ?? text
  const isFramed = window.parent !== window && host !== null

  return {
    host,
    isFramed,
    /** True if drawn inside an element of the host, without a launcher. */
    isInline: parameters.get('inline') === '1' || !isFramed,
    pageUrl: parameters.get('page') ?? null,
    /** On a narrow page an open chat covers all of it. */
    isNarrow: parameters.get('narrow') === '1',
    scheme: parameters.get('scheme'),
    lang: parameters.get('lang'),
    /** Sends a message only to the host's origin. It never contains a token or a text of the chat. */
    tell(type: string, more: object = {}): void {
      if (isFramed) window.parent.postMessage({ source: 'svc-widget', type, ...more }, host)
    },
  }
}
