import { AppError } from '../kernel/errors'

/** The path of a request's URL. Does not use `new URL`, because a forged Host header can make the URL unparsable. */
export function pathOf(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  const end = url.indexOf('?', start)
  return start < 0 ? '/' : url.slice(start, end < 0 ? undefined : end)
}

/**
 * Throws 400 `validation_error` for a Host header that is no host (RFC 9112, 3.2). A request without one is served:
 * health checks by HTTP/1.0 send none.
 */
export function assertHost({ headers, url }: Request): void {
  if (!headers.get('host') || URL.canParse(url)) return
  throw new AppError('invalid', 'validation_error', 'The Host header is not a host name. Send the host of the address.')
}

/** The URL of a request; with a host that any request has where it came without one. */
export const urlOf = ({ url }: Request): URL => URL.parse(url) ?? new URL(`http://localhost${pathOf(url)}`)
