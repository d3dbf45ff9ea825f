import { serveLocally } from '../support/listening'
import type { Person, World } from '../support/world'

type Received = { headers: Record<string, string>; body: string; path: string; at: number }
type Answer = (got: Received, nth: number) => Response | Promise<Response>

/** A receiver on this machine. It answers 204 unless told otherwise. */
export function createReceiver(answer: Answer = () => new Response(null, { status: 204 })) {
  const got: Received[] = []
  const server = serveLocally(async (request) => {
    const body = await request.text()
    const one = {
      headers: Object.fromEntries(request.headers),
      body,
      path: new URL(request.url).pathname,
      at: performance.now(),
    }
    got.push(one)
    return answer(one, got.length)
  })
  return { got, url: `http://127.0.0.1:${server.port}/hook`, stop: () => server.stop(true) }
}

const events = ['order.*']

/** What tests do with webhooks in a world: no loop runs, `deliver` sends what is due. */
export function webhooksIn(world: World) {
  const { jobs } = world.app.container
  return {
    make: async (by: Person, url: string, more: object = {}) =>
      (await by.send('POST', 'webhooks', { url, event_types: events, ...more })).body,
    publish: (by: Person, eventType = 'order.created', payload: unknown = { n: 1 }) =>
      by.send('POST', 'events', { orgId: by.orgId ?? by.userId, eventType, payload }),
    get: async (by: Person, id: string) => (await by.send('GET', `webhooks/${id}`)).body,
    log: async (by: Person, id: string) => (await by.send('GET', `webhooks/${id}/deliveries`)).body.deliveries,
    async deliver(): Promise<void> {
      for (;;) {
        const runs = (await jobs.runDue('webhooks.steady')) + (await jobs.runDue('webhooks.slow'))
        if (!runs) return
      }
    },
  }
}

export const LOCAL = { egressAllow: '127.0.0.0/8' }
