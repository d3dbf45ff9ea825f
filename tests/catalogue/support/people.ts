import type { Spawned } from './server'

/** Who asks, in the words of the attack catalogue. */
export type Who = 'k1' | 'k1b' | 'k2' | 'k0' | 'kx' | 'kz' | 'free' | 'session'

export type Household = {
  /** The credential of each, as it is sent. */
  readonly secrets: Readonly<Record<Who, string>>
  readonly keyIds: Readonly<Record<Exclude<Who, 'session'>, string>>
  emailOf(who: Who): string
  /** The addresses of all, newcomers too. */
  everyone(): readonly string[]
  /** One more key, of a user of its own with that much credit. */
  newcomer(input?: { cents?: number; tier?: string; scopes?: string[]; extra?: object }): Promise<Newcomer>
}
export type Newcomer = { key: string; keyId: string; email: string }

const OWNERS: Record<Who, string> = {
  k1: 'u1@example.com',
  k1b: 'u1@example.com',
  k2: 'u2@example.com',
  k0: 'u1@example.com',
  kx: 'u1@example.com',
  kz: 'uz@example.com',
  free: 'u1@example.com',
  session: 'u1@example.com',
}
const RICH_CENTS = 1_000_000

/** U1 with several keys, U2 in another org, and one who has nothing: made through the product's own doors. */
export async function settle(server: Spawned): Promise<Household> {
  const session = await signUp(server, OWNERS.k1)
  await signUp(server, OWNERS.k2)
  await signUp(server, OWNERS.kz)
  for (const email of [OWNERS.k1, OWNERS.k2]) await grant(server, email, RICH_CENTS)

  const make = (who: Who, input: object = {}) =>
    createKey(server, { user: OWNERS[who], tier: 'enterprise', name: who, ...input })
  const k1 = await make('k1')
  const k1b = await make('k1b')
  const k2 = await make('k2')
  const k0 = await make('k0', { scopes: [] })
  const kx = await make('kx')
  const kz = await make('kz')
  const free = await make('free', { tier: 'free' })
  await server.ops('DELETE', `/ops/v1/keys/${kx.id}`)

  const everyone = [OWNERS.k1, OWNERS.k2, OWNERS.kz]
  return {
    secrets: { k1: k1.key, k1b: k1b.key, k2: k2.key, k0: k0.key, kx: kx.key, kz: kz.key, free: free.key, session },
    keyIds: { k1: k1.id, k1b: k1b.id, k2: k2.id, k0: k0.id, kx: kx.id, kz: kz.id, free: free.id },
    emailOf: (who) => OWNERS[who],
    everyone: () => everyone,
    async newcomer({ cents = 0, tier = 'enterprise', scopes, extra } = {}) {
      const email = `new${everyone.length}@example.com`
      everyone.push(email)
      await signUp(server, email)
      if (cents > 0) await grant(server, email, cents)
      const made = await createKey(server, { user: email, tier, name: email, ...(scopes ? { scopes } : {}), ...extra })
      return { key: made.key, keyId: made.id, email }
    },
  }
}

async function signUp({ url }: Spawned, email: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/auth/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: `pw-${email}-canary-7f3a` }),
  })
  const body = (await response.json()) as { session_token?: string }
  if (response.status !== 201 || !body.session_token) throw new Error(`sign-up: ${JSON.stringify(body)}`)
  return body.session_token
}

export async function grant({ ops }: Pick<Spawned, 'ops'>, owner: string, amount_cents: number): Promise<void> {
  const { status, text } = await ops('POST', '/ops/v1/credits', { owner, amount_cents })
  if (status !== 200) throw new Error(`grant: ${text}`)
}

async function createKey({ ops }: Spawned, input: object): Promise<{ id: string; key: string }> {
  const { status, body, text } = await ops('POST', '/ops/v1/keys', input)
  if (status !== 200 && status !== 201) throw new Error(`key: ${text}`)
  return body
}
