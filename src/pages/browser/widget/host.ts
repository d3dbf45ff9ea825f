/** Where the frame stands, as its address and the browser say. */
export function hostOf() {
  const notice = new URLSearchParams(location.hash.slice(1))
  const text = notice.get('origin')
  // Where the browser knows the parent's origin, what the address says must be the same.
  const known = location.ancestorOrigins?.[0]
  const host = known ?? text
  const isFramed = window.parent !== window && host !== null

  return {
    host,
    isFramed,
    /** Drawn inside an element of the host, without a launcher. */
    isInline: notice.get('inline') === '1' || !isFramed,
    pageUrl: notice.get('page') ?? null,
    /** On a narrow page an open chat covers all of it. */
    isNarrow: notice.get('narrow') === '1',
    scheme: notice.get('scheme'),
    lang: notice.get('lang'),
    /** Goes to the host's origin alone, and never has a token or a text of the chat in it. */
    tell(type: string, more: object = {}): void {
      if (isFramed) window.parent.postMessage({ source: 'svc-widget', type, ...more }, host)
    },
  }
}
