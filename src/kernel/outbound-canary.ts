import { createServer } from 'node:net'
import { createOutbound } from './outbound'

/**
 * Proves at start that the guarded door is shut: a name that leads to this machine is called, and must be
 * refused before anything connects. A runtime that ignored the checking look-up would be found out here
 * instead of by an attacker (reliability 0.7).
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
