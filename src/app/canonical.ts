import { form } from '../kernel/form'

const HOST = '(?:\\[[0-9a-fA-F:.]+\\]|[^/?#@:\\s\\[\\]]+)'
const PORT = '(?::(?:[1-5]?\\d{1,4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5]))?'
/** Links are written as this and a path, and strangers see them: no name, password, query or fragment. */
export const PUBLIC_URL = form(
  `^$|^https?://${HOST}${PORT}/?$`,
  'https:// or http://, a host and perhaps a port, such as https://svc.example.com',
)

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
