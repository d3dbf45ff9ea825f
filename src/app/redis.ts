import { RedisClient } from 'bun'
import type { Clock } from '../kernel/clock'
import type { Wire } from '../kernel/store'
import type { Scripts } from '../limits'

export type Redis = Scripts & {
  ping(): Promise<void>
  wire: Wire
  /** The policy by which Redis evicts unexpired keys. Null if none, or if not reported. Rejects like `run`. */
  evicts(): Promise<string | null>
  /** Reason, in words, why Redis is unreachable. Null while it is reachable. */
  problem(): string | null
  close(): void
}

type Options = {
  clock: Clock
  /** Called once with the reason when Redis is lost, and once with null when it is back. */
  onChange(problem: string | null): void
}

const CHANNEL = 'svc:live'
const PATIENCE_MS = 250

/** The connection to the configured Redis. Null without one. While Redis is down, calls fail at once. */
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

/** The client reports only that the connection was closed, whatever the reason was. */
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

/** Connects if necessary, once for all waiting callers. Resolves with the id of the running Redis process. */
function connecting(client: RedisClient): () => Promise<string> {
  let under: Promise<void> | null = null
  let run = ''
  const connect = async () => {
    await client.connect()
    const about = String(await client.send('INFO', ['server']).catch(() => ''))
    // A Redis that does not report a run id counts as the same one while it still has the data written to it.
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

/** Loads a script once and then calls it by its hash. Loads it again after Redis restarted. */
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

/** Each attempt opens its own connection: a subscribed one takes no commands, a broken one cannot resubscribe. */
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
