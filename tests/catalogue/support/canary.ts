import { afterAll } from 'bun:test'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'

/** A listener on loopback that nobody may ever reach. */
export async function startCanary(): Promise<{ port: number; connections(): number }> {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>((ready) => server.listen(0, '::', ready))
  afterAll(() => {
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, connections: () => connections }
}
