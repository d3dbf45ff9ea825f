import { RedisClient } from 'bun'

export type Redis = { ping(): Promise<void>; close(): void }

/** The Redis that several nodes share, where one is configured. It fails at once while it is away, and comes back by itself. */
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
