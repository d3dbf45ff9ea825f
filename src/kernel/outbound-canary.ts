import { createServer } from 'node:net'
import { createOutbound } from './outbound'

/**
 * Checks the outbound guard at start: fetches a name that resolves to this machine and expects a rejection before any
 * connection is made. This detects a runtime that ignores our checking `lookup` (docs/promises.md I24).
 */
export async function isEgressGuarded(): Promise<boolean> {
  let reached = false
  const canary = createServer((socket) => {
    reached = true
    socket.destroy()
  })
  await new Promise<void>((listening) => canary.listen(0, '127.0.0.1', listening))
  const { port } = canary.address() as { port: number }
  try {
    const outbound = createOutbound({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
    const refused = await outbound
      .fetchPublic(`http://canary.example:${port}/`, { maxBytes: 1, timeoutMs: 1_000 })
      .then(
        () => false,
        (error: { code?: string }) => error.code === 'url_blocked',
      )
    return refused && !reached
  } finally {
    canary.close()
  }
}
