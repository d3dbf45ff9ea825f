import { Elysia } from 'elysia'
import type { Guard } from '../http/guard'
import { notFound } from '../kernel/errors'

type OperatorApi = { handle(request: Request): Response | Promise<Response> }
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

/**
 * The operator API for the console, on the listener of browsers (console 9.8). It is there only for requests with a
 * cookie and without a bearer; for all others, and where it is switched off, nothing is served here.
 */
export function operatorDoorRoutes(api: () => OperatorApi | null, guard: Guard) {
  const app = new Elysia({ prefix: '/ops/v1', detail: { hide: true } }).use(guard)
  const pass = async ({ request, body }: { request: Request; body?: unknown }): Promise<Response> => {
    const { method, url, headers, signal } = request
    const operatorApi = headers.get('cookie') && !headers.has('authorization') ? api() : null
    if (!operatorApi) throw notFound('route')
    const sent = body instanceof Uint8Array && body.byteLength ? { body: body as BodyInit } : {}
    return operatorApi.handle(new Request(url, { method, headers, signal, ...sent }))
  }
  type Mounted = Record<(typeof METHODS)[number], (path: string, handle: unknown, options: object) => void>
  const mounted = app as unknown as Mounted
  for (const method of METHODS) {
    mounted[method]('/*', pass, { open: true, timeLimit: 'own', ...(method === 'get' ? {} : { raw: true }) })
  }
  return app
}
