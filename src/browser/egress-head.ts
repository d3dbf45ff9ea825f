/** The head of a proxy request: where it wants to go, and what is sent there. */
export type ProxyHead = {
  tunnel: boolean
  /** `host:port`. */
  authority: string
  /** The head for the server itself; empty for a tunnel. */
  head: string
}

/** Headers between a client and its proxy, and those that keep a connection for a next request, to another host. */
const HOP = /^(proxy-[a-z-]+|connection|keep-alive|te|trailer)\s*:/i

/** Reads the head that a browser sends to its proxy; null for what no browser sends. */
export function readProxyHead(text: string): ProxyHead | null {
  const [first = '', ...lines] = text.split('\r\n')
  const [method, target, version] = first.split(' ')
  if (!method || !target || !/^HTTP\/1\.[01]$/.test(version ?? '')) return null
  if (method === 'CONNECT') return { tunnel: true, authority: target, head: '' }
  const url = /^http:\/\/[^/]/i.test(target) ? URL.parse(target) : null
  if (!url) return null
  const upgrades = lines.some((line) => /^upgrade\s*:/i.test(line))
  const kept = lines.filter((line) => line && (upgrades ? !/^proxy-/i.test(line) : !HOP.test(line)))
  const head = [`${method} ${url.pathname}${url.search} HTTP/1.1`, ...kept, ...(upgrades ? [] : ['Connection: close'])]
  return { tunnel: false, authority: `${url.hostname}:${url.port || 80}`, head: `${head.join('\r\n')}\r\n\r\n` }
}

/** The head of an answer, after which the browser uses the connection no more. An upgrade stays as it is. */
export function closing(head: string): string {
  const [status = '', ...lines] = head.split('\r\n')
  if (/^HTTP\/1\.[01] 101/.test(status)) return `${head}\r\n\r\n`
  const kept = lines.filter((line) => line && !HOP.test(line))
  return `${[status, ...kept, 'Connection: close'].join('\r\n')}\r\n\r\n`
}

const REFUSED = 'This address cannot be opened here: it is not a public http or https address.'

/** The answer to a request that may not leave. */
export const refused = (why = REFUSED): string =>
  [
    'HTTP/1.1 403 Forbidden',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(why)}`,
    'Connection: close',
    '',
    why,
  ].join('\r\n')

/** The answer when the other side cannot be reached. */
export const unreachable = (): string => 'HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
