import { RedisClient } from 'bun'

export type Redis = { ping(): Promise<void>; close(): void }

/** Connects to the configured Redis; null if there is none. While it is down calls fail at once; `ping` reconnects. */
export function connectRedis(url: string): Redis | null {
  if (!url) return null
  const client = new RedisClient(url, {
    connectionTimeout: 2_000,
    enableOfflineQueue: false,
    maxRetries: 0,
  })
  return {
    ping: async () => {
      if (!client.connected) await client.connect()
      await client.send('PING', [])
    },
    close: () => client.close(),
  }
}
