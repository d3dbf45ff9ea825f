import { afterAll } from 'bun:test'
import type { World } from './world'

/** The world behind a real socket, for what only a connection can show: clients, disconnects, framing. */
export function listen({ app }: World): { origin: string; baseUrl: string } {
  app.api.listen({ port: 0, hostname: '127.0.0.1' })
  afterAll(() => app.api.server?.stop(true))
  const origin = `http://127.0.0.1:${app.api.server!.port}`
  return { origin, baseUrl: `${origin}/api/v1` }
}

/** Looks again and again until `look` finds something; says what it waited for when it gives up. */
export async function until<T>(what: string, look: () => T | Promise<T>, withinMs = 5_000): Promise<NonNullable<T>> {
  const deadline = performance.now() + withinMs
  while (performance.now() < deadline) {
    const found = await look()
    if (found) return found
    await Bun.sleep(5)
  }
  throw new Error(`waited ${withinMs} ms in vain for ${what}`)
}
