/**
 * Returns the URL to redirect a request to, or null. Only requests to the apex of the public URL (its host without
 * `www.`) are redirected (contract 1.1); other hosts are served, as health checks and tests use bare addresses.
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
