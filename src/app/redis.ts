import { RedisClient } from 'bun'
import type { Clock } from '../kernel/clock'
import type { Wire } from '../kernel/store'

export type Redis = {
  ping(): Promise<void>
  wire: Wire
  /**
   * Runs a Lua script on keys as one step, and reads what it answers. Rejects where Redis is away, does not answer in a
   * quarter of a second, or answers what `read` throws for.
   */
  run<T>(
    script: string,
    keys: readonly string[],
    values: readonly (string | number)[],
    read: (answer: unknown) => T,
  ): Promise<T>
  /** Which run of Redis answers: one that is started again may know nothing of before. Rejects as `run`. */
  started(): Promise<string>
  /** The policy by which it evicts what has not expired; null if none, or if it does not say. Rejects as `run`. */
  evicts(): Promise<string | null>
  /** Why it is away, in words; null while it is there. */
  problem(): string | null
  close(): void
}

type Options = {
  clock: Clock
  /** Told once when Redis is lost, with why, and once when it is back, with null. */
  onChange(problem: string | null): void
}

const CHANNEL = 'svc:live'
const PATIENCE_MS = 250

/** The connection to the configured Redis; null without one. While it is down calls fail at once; it reconnects. */
export function connectRedis(url: string, { clock, onChange }: Options): Redis | null {
  if (!url) return null
  const client = opened(url)
  const connected = connecting(client)
  const { wire, close } = createWire(url, client, connected)
  const run = createScripts(client, connected)
  let problem: string | null = null
  return {
    ping: () =>
      watched(async () => {
        await connected()
        await client.send('PING', [])
      }),
    wire: {
      ...wire,
      send: (text) => watched(() => wire.send(text)),
      hear: (text, again) => watched(() => wire.hear(text, again)),
    },
    run: (script, keys, values, read) => watched(async () => read(await soon(run(script, keys, values)))),
    started: () => watched(() => soon(connected())),
    evicts: () =>
      watched(async () => {
        await soon(connected())
        const about = String(await soon(client.send('INFO', ['memory']).catch(() => '')))
        const [limit, policy] = ['maxmemory', 'maxmemory_policy'].map(
          (name) => new RegExp(`^${name}:(\\S+)`, 'm').exec(about)?.[1],
        )
        return limit === undefined || limit === '0' || policy === 'noeviction' ? null : (policy ?? null)
      }),
    problem: () => problem,
    close: () => {
      close()
      client.close()
    },
  }

  async function watched<T>(work: () => Promise<T>): Promise<T> {
    try {
      const done = await work()
      if (problem !== null) onChange(null)
      problem = null
      return done
    } catch (error) {
      if (problem === null) onChange(wordsOf(error))
      problem = wordsOf(error)
      throw error
    }
  }

  function soon<T>(answer: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const stop = clock.after(PATIENCE_MS, () => reject(new Error(`no answer within ${PATIENCE_MS} ms`)))
    answer.then(resolve, reject).finally(stop)
    return promise
  }
}

/** The client says no more than that the connection was closed, whatever Redis had against it. */
function wordsOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message === 'Connection closed'
    ? 'the connection was closed at once: the password is wrong, only one side uses TLS, or it is not a Redis server'
    : message
}

const opened = (url: string) =>
  new RedisClient(url, {
    connectionTimeout: 2_000,
    enableOfflineQueue: false,
    maxRetries: 0,
  })

/** Connects where it is not, once for all who wait for it. Resolves with which run of Redis it is. */
function connecting(client: RedisClient): () => Promise<string> {
  let under: Promise<void> | null = null
  let run = ''
  const connect = async () => {
    await client.connect()
    const about = String(await client.send('INFO', ['server']).catch(() => ''))
    // One that does not tell is taken for the same as long as it has what was written to it.
    run = /^run_id:(\w+)/m.exec(about)?.[1] ?? 'unknown'
  }
  return async () => {
    if (!client.connected)
      under ??= connect().finally(() => {
        under = null
      })
    await under
    return run
  }
}

/** A script is sent once and named by its hash from then on; a server that restarted is sent it again. */
function createScripts(client: RedisClient, connected: () => Promise<unknown>) {
  const hashes = new Map<string, Promise<string>>()
  const load = (script: string) => {
    const hash = client.send('SCRIPT', ['LOAD', script]) as Promise<string>
    hashes.set(script, hash)
    hash.catch(() => hashes.delete(script))
    return hash
  }
  return async (script: string, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown> => {
    await connected()
    const call = (hash: string) => client.send('EVALSHA', [hash, String(keys.length), ...keys, ...values.map(String)])
    try {
      return await call(await (hashes.get(script) ?? load(script)))
    } catch (error) {
      if (!String(error).includes('NOSCRIPT')) throw error
      return call(await load(script))
    }
  }
}

/** A listening connection takes no other commands, and a broken one cannot listen again: each try has its own. */
function createWire(
  url: string,
  client: RedisClient,
  connected: () => Promise<unknown>,
): { wire: Wire; close(): void } {
  let ear: RedisClient | null = null
  const wire: Wire = {
    async send(text) {
      await connected()
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
