import { afterAll } from 'bun:test'
import { startUpstream, type Upstream } from '../../support/upstream'
import { type Household, settle } from './people'
import { type Reply, request, type Sending } from './reply'
import { type Spawned, spawnServer } from './server'

export type Options = {
  /** What is set besides; may need to know where the upstream listens. */
  env?: Record<string, string> | ((upstreamUrl: string) => Record<string, string>)
  /** `scripted`: the upstream of tests/support; `builtin`: the engine of the first five minutes. */
  engine?: 'scripted' | 'builtin'
}

export type Target = Spawned & {
  readonly upstream: Upstream
  readonly people: Household
  /** Of the Postgres database behind it; null with SQLite. */
  readonly databaseUrl: string | null
  /** One request; checks the error shape of what comes back (docs/promises.md I42). */
  send(method: string, path: string, sending?: Sending): Promise<Reply>
  /** The money of someone, in cents. */
  moneyOf(email: string): Promise<{ balance: number; held: number }>
}

/** Every tier row far away but Free, so that nothing but the row under test is limited. */
const ROOMY = JSON.stringify({ enterprise: { rpm: 100_000_000, tpm: 100_000_000_000 } })

/**
 * A target for what happens around the modules: bytes, framing, how much memory a body takes. No statement that
 * differs between databases is reached, so SQLite is behind it in every run.
 */
export const startEdge = (options: Options = {}): Promise<Target> => startTargetOn(null, options)

/**
 * A server on the database of that URL, SQLite in its data folder when there is none; an engine behind it, and
 * callers of every kind. Stopped and removed when the file ends.
 */
export async function startTargetOn(
  databaseUrl: string | null,
  { env = {}, engine = 'scripted' }: Options,
): Promise<Target> {
  const upstream = await startUpstream()
  const server = await spawnServer({
    SVC_TIERS: ROOMY,
    SVC_SIGNUP: 'open',
    SVC_CREDITS_INITIAL_CENTS: '0',
    SVC_LOG_LEVEL: 'debug',
    SVC_LOG_FORMAT: 'json',
    ...(engine === 'scripted' ? { SVC_ENGINE_BASE_URL: upstream.url } : {}),
    ...(databaseUrl ? { SVC_DATABASE_URL: databaseUrl } : {}),
    ...(typeof env === 'function' ? env(upstream.url) : env),
  })
  afterAll(async () => {
    await server.kill()
    await upstream.stop()
  })
  const people = await settle(server)
  const send = (method: string, path: string, sending?: Sending) => request(server.url, people, method, path, sending)
  const moneyOf = async (email: string) => {
    const { body } = await server.ops('GET', `/ops/v1/credits?owner=${encodeURIComponent(email)}`)
    return { balance: body.balance_cents as number, held: body.held_cents as number }
  }
  return { ...server, upstream, people, databaseUrl, send, moneyOf }
}
