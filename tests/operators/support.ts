import { HEARD_WITHIN_MS, type World } from '../support/world'

type Served = { handle(request: Request): Response | Promise<Response> }

/** One request on the operator API of a world, as svc-admin would send it over the socket. */
export const operatorSender = (world: World): ReturnType<typeof senderOn> => {
  const send = senderOn(world.app.ops, {})
  return async (method, ...rest) => {
    const reply = await send(method, ...rest)
    // The other nodes hear of a change.
    if (world.nodes.length > 1 && method !== 'GET') await Bun.sleep(HEARD_WITHIN_MS)
    return reply
  }
}

/** The same over TCP, with an operator key; null for none. The world needs `opsListen`. */
export const remoteSender = (world: World, key: string | null) => {
  const { remoteOps } = world.app
  if (!remoteOps) throw new Error('this world serves no operators elsewhere')
  return senderOn(remoteOps, key === null ? {} : { authorization: `Bearer ${key}` })
}

/** Sends to any API that handles requests, with these headers each time. */
export const senderOn =
  (api: Served, state: Record<string, string>, base = '/ops/v1/') =>
  async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const framing: Record<string, string> =
      text === undefined ? {} : { 'content-type': 'application/json', 'content-length': `${text.length}` }
    const request = new Request(`http://localhost${path.startsWith('/') ? '' : base}${path}`, {
      method,
      headers: { ...framing, ...state, ...headers },
      ...(text === undefined ? {} : { body: text }),
    })
    const response = await api.handle(request)
    const answer = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return {
      status: response.status,
      headers: response.headers,
      text: answer,
      body: isJson ? JSON.parse(answer) : undefined,
    }
  }
