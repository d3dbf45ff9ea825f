/**
 * With a public URL configured, a request to its apex (the same host without `www.`) is answered 307 to
 * it (contract 1.1). Any other host is served where it is: health checks and tests use bare addresses.
 */
export function canonicalUrl(publicUrl: string): (request: Request) => string | null {
  if (!publicUrl) return () => null
  const { origin, host } = new URL(publicUrl)
  const apex = host.startsWith('www.') ? host.slice('www.'.length) : null
  return (request) => {
    if (apex === null || request.headers.get('host')?.toLowerCase() !== apex) return null
    const start = request.url.indexOf('/', request.url.indexOf('://') + 3)
    return origin + (start < 0 ? '/' : request.url.slice(start))
  }
}
