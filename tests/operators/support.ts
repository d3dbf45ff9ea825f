import type { World } from '../support/world'

/** One request on the operator plane of a world, as svc-admin would send it. */
export const operatorSender =
  (world: World) =>
  async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const framing: Record<string, string> =
      text === undefined ? {} : { 'content-type': 'application/json', 'content-length': `${text.length}` }
    const request = new Request(`http://localhost${path.startsWith('/') ? '' : '/ops/v1/'}${path}`, {
      method,
      headers: { ...framing, ...headers },
      ...(text === undefined ? {} : { body: text }),
    })
    const response = await world.app.ops.handle(request)
    const answer = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return {
      status: response.status,
      headers: response.headers,
      text: answer,
      body: isJson ? JSON.parse(answer) : undefined,
    }
  }
