import { Agent } from 'node:http'
import { Agent as SecureAgent } from 'node:https'
import type { Duplex } from 'node:stream'

type Limits = {
  /** Connections kept idle for one host, port and set of addresses, and in all. */
  idleEach?: number
  idleAll?: number
  idleMs?: number
}

/**
 * Connections that later calls may use. A call gets only one of the same scheme, host, port, TLS name and set of IP
 * addresses as it has resolved and checked itself: so a kept connection leads nowhere that the call could not connect
 * to now (J13). Few are kept, and not for long.
 */
export function keepConnections({ idleEach = 64, idleAll = 256, idleMs = 10_000 }: Limits = {}) {
  const options = { keepAlive: true, maxFreeSockets: idleEach, timeout: idleMs }
  const [plain, secure] = [bounded(new Agent(options)), bounded(new SecureAgent(options))]
  /** How to end the count of an idle connection. */
  const idle = new Map<Duplex, () => void>()
  return {
    /** For a request that may use a connection kept for these addresses of its host, or leave one. */
    optionsFor: (url: URL, addresses: readonly string[]) => ({
      agent: url.protocol === 'https:' ? secure : plain,
      pinned: [...addresses].sort().join(' '),
    }),
    idleCount: () => idle.size,
  }

  function bounded<A extends Agent>(agent: A): A {
    const { getName, keepSocketAlive, reuseSocket } = agent
    agent.getName = (to) => `${getName.call(agent, to)}|${(to as { pinned?: string } | undefined)?.pinned}`
    // Types have it return nothing; false closes the connection.
    agent.keepSocketAlive = (socket) => {
      const keeps = idle.size < idleAll && (keepSocketAlive.call(agent, socket) as unknown as boolean)
      if (keeps) idle.set(socket, watchEnd(socket))
      return keeps
    }
    agent.reuseSocket = (socket, request) => {
      idle.get(socket)?.()
      reuseSocket.call(agent, socket, request)
    }
    return agent
  }

  function watchEnd(socket: Duplex): () => void {
    const end = () => {
      idle.delete(socket)
      socket.off('close', end)
    }
    socket.once('close', end)
    return end
  }
}
