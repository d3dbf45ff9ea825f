import { createHash } from 'node:crypto'

/**
 * A service of buckets on loopback, as far as files need it: PUT, GET with ranges, HEAD, DELETE and lists, all signed.
 */
export function startS3() {
  const objects = new Map<string, { bytes: Buffer; modified: Date }>()
  const refused: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url)
      if (!request.headers.get('authorization')?.startsWith('AWS4-HMAC-SHA256 Credential=id/')) {
        // A page of another test may still look for a server that had this port before.
        if (pathname.startsWith('/bucket')) refused.push(`${request.method} ${pathname}`)
        return new Response(null, { status: 403 })
      }
      const key = decodeURIComponent(pathname.replace(/^\/bucket\/?/, ''))
      if (key === '') return listing(searchParams)
      if (request.method === 'PUT') {
        objects.set(key, { bytes: Buffer.from(await request.arrayBuffer()), modified: new Date() })
        return new Response(null, { headers: { etag: '"1"' } })
      }
      if (request.method === 'DELETE') {
        objects.delete(key)
        return new Response(null, { status: 204 })
      }
      const found = objects.get(key)
      if (!found) return new Response('<Error><Code>NoSuchKey</Code></Error>', { status: 404 })
      return contentOf(request, found.bytes)
    },
  })

  function contentOf(request: Request, bytes: Buffer): Response {
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.get('range') ?? '') ?? []
    const part = from === undefined ? bytes : bytes.subarray(Number(from), to ? Number(to) + 1 : undefined)
    const etag = `"${createHash('md5').update(bytes).digest('hex')}"`
    const headers = { etag, 'content-length': String(part.byteLength), 'last-modified': new Date().toUTCString() }
    const body = request.method === 'HEAD' ? null : new Uint8Array(part)
    return new Response(body, { status: from === undefined ? 200 : 206, headers })
  }

  /** Two a page, so that there is a second page. */
  function listing(query: URLSearchParams): Response {
    const prefix = query.get('prefix') ?? ''
    const after = query.get('start-after') ?? ''
    const found = [...objects]
      .filter(([key]) => key.startsWith(prefix) && key > after)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    const contents = found
      .slice(0, 2)
      .map(
        ([key, { modified, bytes }]) =>
          `<Contents><Key>${key}</Key><LastModified>${modified.toISOString()}</LastModified><Size>${bytes.byteLength}</Size></Contents>`,
      )
    const body = `<?xml version="1.0"?><ListBucketResult><Name>bucket</Name><IsTruncated>${found.length > 2}</IsTruncated>${contents.join('')}</ListBucketResult>`
    return new Response(body, { headers: { 'content-type': 'application/xml' } })
  }

  return { objects, refused, endpoint: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}
