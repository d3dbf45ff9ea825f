import { RedisClient } from 'bun'
import type { Wire } from '../kernel/store'

export type Redis = { ping(): Promise<void>; wire: Wire; close(): void }

const CHANNEL = 'svc:live'

/** Connects to the configured Redis; null if there is none. While it is down calls fail at once; `ping` reconnects. */
export function connectRedis(url: string): Redis | null {
  if (!url) return null
  const client = opened(url)
  const { wire, close } = createWire(url, client)
  return {
    ping: async () => {
      await connected(client)
      await client.send('PING', [])
    },
    wire,
    close: () => {
      close()
      client.close()
    },
  }
}

const opened = (url: string) =>
  new RedisClient(url, {
    connectionTimeout: 2_000,
    enableOfflineQueue: false,
    maxRetries: 0,
  })

async function connected(client: RedisClient): Promise<void> {
  if (!client.connected) await client.connect()
}

/** A connection that listens takes no other commands, and one that broke does not listen again: each try has its own. */
function createWire(url: string, client: RedisClient): { wire: Wire; close(): void } {
  let ear: RedisClient | null = null
  const wire: Wire = {
    async send(text) {
      await connected(client)
      await client.publish(CHANNEL, text)
    },
    async hear(text, again) {
      ear?.close()
      const listening = opened(url)
      ear = listening
      await listening.connect()
      await listening.subscribe(CHANNEL, (message) => text(message))
      again()
      return async () => listening.close()
    },
    hearing: () => ear?.connected ?? false,
  }
  return { wire, close: () => ear?.close() }
}
