import { copyFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Newcomer, settle } from '../catalogue/support/people'
import { HOLD_CENTS, MAX_TOKENS, pricedEngines } from '../catalogue/support/prices'
import { type Spawned, spawnServer } from '../catalogue/support/server'
import { createMigratedDatabase } from '../support/store'
import { startUpstream } from '../support/upstream'

export const AT_ONCE = 200
export const AFFORDED = 10

type Options = { rounds: number; postgresUrl: string | null; onRound?(round: number): void }

/** How one round ended: answers by status, and what is left, in cents. */
export type Round = { statuses: Record<number, number>; balance: number; held: number }

const ROOMY = JSON.stringify({ enterprise: { rpm: 100_000_000, tpm: 100_000_000_000 } })

/**
 * docs/promises.md I7: credit for exactly ten calls, two hundred at once, round after round, against the real server;
 * with Postgres against two of them on one database, half of the calls to each.
 */
export async function runOverdraft({ rounds, postgresUrl, onRound = () => undefined }: Options): Promise<Round[]> {
  const upstream = await startUpstream()
  const database = postgresUrl ? await createMigratedDatabase(postgresUrl) : null
  const env = {
    SVC_TIERS: ROOMY,
    SVC_SIGNUP: 'open',
    SVC_CREDITS_INITIAL_CENTS: '0',
    ...pricedEngines(upstream.url),
    ...(database ? { SVC_DATABASE_URL: database.url } : {}),
  }
  const servers = [await spawnServer(env)]
  if (database) servers.push(await spawnServer(env, besides(servers[0]!)))
  try {
    const people = await settle(servers[0]!)
    const ended: Round[] = []
    for (let round = 1; round <= rounds; round++) {
      ended.push(await race(servers, await people.newcomer({ cents: AFFORDED * HOLD_CENTS })))
      onRound(round)
    }
    return ended
  } finally {
    for (const server of servers) await server.kill()
    await upstream.stop()
    await database?.drop()
  }
}

/** A data folder for a second node, with the secrets of the first. */
function besides({ folder }: Spawned): string {
  const own = mkdtempSync(join(tmpdir(), 'svc-catalogue-'))
  copyFileSync(join(folder, 'secrets.json'), join(own, 'secrets.json'))
  return own
}

async function race(servers: readonly Spawned[], person: Newcomer): Promise<Round> {
  const calls = Array.from({ length: AT_ONCE }, (_, n) => ask(servers[n % servers.length]!, person.key, n))
  const statuses: Record<number, number> = {}
  for (const status of await Promise.all(calls)) statuses[status] = (statuses[status] ?? 0) + 1
  const { body } = await servers[0]!.ops('GET', `/ops/v1/credits?owner=${person.email}`)
  return { statuses, balance: body.balance_cents, held: body.held_cents }
}

async function ask({ url }: Spawned, key: string, n: number): Promise<number> {
  const prompt = `race ${n} [[tokens:${MAX_TOKENS}]] [[delay:50]]`
  const response = await fetch(`${url}/api/v1/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'cache-control': 'no-cache' },
    body: JSON.stringify({ prompt, mode: 'fast', conversation_id: null }),
  })
  await response.text()
  return response.status
}
