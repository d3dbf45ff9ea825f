import { afterAll } from 'bun:test'
import { PIXEL } from '../files/support'

type Request = { method: string; path: string; body: Record<string, unknown> | null; headers: Headers }

/** The first bytes of an MP4, which is all that anybody looks at here. */
export const CLIP = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from('ftypisom\0\0\0\0isommp42', 'latin1'),
  Buffer.from([0, 0, 0, 8]),
  Buffer.from('mdat'),
])

/** As `startVideoServer`, stopped when the test file ends. */
export function videoServer() {
  const server = startVideoServer()
  afterAll(server.stop)
  return server
}

/** A server of `POST /videos` that makes them after some looks. What it does is set in `will`. */
export function startVideoServer() {
  const requests: Request[] = []
  const will = {
    order: (): Response | Promise<Response> | null => null,
    /** How often a video is looked at until it is made. */
    looks: 1,
    state: (): object | Response | null => null,
    content: (): Response => new Response(CLIP, { headers: { 'content-type': 'video/mp4' } }),
    still: (): Response => new Response(PIXEL, { headers: { 'content-type': 'image/png' } }),
  }
  const usual = { ...will }
  const looked = new Map<string, number>()
  let made = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const path = pathname + search
      const body = request.method === 'POST' ? ((await request.json()) as Record<string, unknown>) : null
      requests.push({ method: request.method, path, body, headers: request.headers })
      if (path === '/v1/videos') {
        const other = await will.order()
        if (other) return other
        return Response.json({
          id: `video_${++made}`,
          object: 'video',
          status: 'queued',
          progress: 0,
          ...shapeOf(body),
        })
      }
      const [, id = ''] = /^\/v1\/videos\/([^/?]+)/.exec(path) ?? []
      if (path.endsWith('variant=thumbnail')) return will.still()
      if (path.endsWith('/content')) return will.content()
      if (request.method === 'DELETE') return Response.json({ id, deleted: true })
      if (!id) return Response.json({ data: [] })
      const other = will.state()
      if (other) return other instanceof Response ? other : Response.json({ id, ...other })
      const looks = (looked.get(id) ?? 0) + 1
      looked.set(id, looks)
      const isMade = looks >= will.looks
      const state = isMade ? { status: 'completed', progress: 100 } : { status: 'in_progress', progress: looks * 10 }
      return Response.json({ id, object: 'video', ...state, seconds: '4', size: '1280x720' })
    },
  })
  return {
    stop: () => void server.stop(true),
    url: `http://127.0.0.1:${server.port}/v1`,
    asked: requests,
    will,
    of: (method: string, pattern: RegExp) => requests.filter((one) => one.method === method && pattern.test(one.path)),
    reset() {
      requests.length = 0
      Object.assign(will, usual)
    },
  }
}

const shapeOf = (body: Record<string, unknown> | null) => ({
  model: body?.model,
  seconds: body?.seconds,
  size: body?.size,
})
