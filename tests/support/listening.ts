import { afterAll } from 'bun:test'
import { connect } from 'node:net'
import type { World } from './world'

/** Opens the world on a real socket, for tests of clients, disconnects and framing. */
export function listen({ app }: Pick<World, 'app'>): { origin: string; baseUrl: string } {
  app.api.listen({ port: 0, hostname: '127.0.0.1' })
  afterAll(() => app.api.server?.stop(true))
  const origin = `http://127.0.0.1:${app.api.server!.port}`
  return { origin, baseUrl: `${origin}/api/v1` }
}

/** A server on loopback that answers so; it ends after the tests. */
export function serveLocally(fetch: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch })
  afterAll(() => server.stop(true))
  return server
}

/** Whether the address accepts a new connection. */
export const isListening = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
    const answer = (open: boolean) => () => {
      socket.destroy()
      resolve(open)
    }
    socket.once('connect', answer(true)).once('error', answer(false))
  })
