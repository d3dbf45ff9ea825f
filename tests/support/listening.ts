import { afterAll } from 'bun:test'
import { connect } from 'node:net'
import type { World } from './world'

/** The world behind a real socket, for what only a connection can show: clients, disconnects, framing. */
export function listen({ app }: World): { origin: string; baseUrl: string } {
  app.api.listen({ port: 0, hostname: '127.0.0.1' })
  afterAll(() => app.api.server?.stop(true))
  const origin = `http://127.0.0.1:${app.api.server!.port}`
  return { origin, baseUrl: `${origin}/api/v1` }
}

/** Whether a new connection to this address is taken. */
export const isListening = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
    const answer = (open: boolean) => () => {
      socket.destroy()
      resolve(open)
    }
    socket.once('connect', answer(true)).once('error', answer(false))
  })
