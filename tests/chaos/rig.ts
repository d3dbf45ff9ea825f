import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { timeGivenTo } from '../support/effort'
import { freePort } from '../support/free-port'
import type { Random } from '../support/random'
import { devKeyOf, type ServerProcess, startServerProcess } from '../support/server-process'
import { startStripe } from '../support/stripe'
import type { Upstream } from '../support/upstream'
import { copyDataDir, inspectCopy, openHolds, verifyCopy } from './copy'
import { startEndpoint } from './endpoint'
import { startLoad } from './load'
import { createChaosDatabase, writeAsSqlite } from './postgres'
import { tellAll } from './purchases'
import { reread } from './reread'
import { retryAll } from './retries'
import { createWitness } from './witness'

export type Rig = Awaited<ReturnType<typeof createRig>>

const HOLDS_ENDED_WITHIN_MS = 60_000
/** Limits are not what is tested here. */
const TIERS = JSON.stringify({ enterprise: { rpm: 100_000_000, tpm: 100_000_000_000 } })

/** Settings of one node, and a program that is not this one. */
type Program = { env?: Record<string, string>; command?: string[]; cwd?: string }

/**
 * One data folder with everything that is known of it: what clients were told, what was found wrong.
 * The server comes and goes; the rig stays.
 */
export async function createRig(upstream: Upstream, postgres: string | null = null, more: Record<string, string> = {}) {
  const database = postgres ? await createChaosDatabase(postgres) : null
  const root = mkdtempSync(join(tmpdir(), 'svc-chaos-'))
  const dataDir = join(root, 'data')
  const witness = createWitness(join(root, 'acks.log'))
  const violations: string[] = []
  const port = await freePort()
  const stripe = startStripe()
  const endpoint = startEndpoint()
  const env = {
    SVC_ENGINE_BASE_URL: upstream.url,
    ...(database ? { SVC_DATABASE_URL: database.url } : {}),
    SVC_ENGINE_MODEL: 'scripted',
    SVC_TIERS: TIERS,
    SVC_MAX_KEYS_PER_PERSON: '100000',
    SVC_MAX_ORGS_PER_PERSON: '100000',
    SVC_EGRESS_ALLOW: '127.0.0.1/32',
    SVC_PAYMENT_PROVIDER: 'stripe',
    SVC_STRIPE_SECRET_KEY: 'sk_test_scripted',
    SVC_STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
    SVC_STRIPE_BASE_URL: stripe.url,
    ...more,
  }
  let read = { conversations: 0, keys: 0, made: 0 }

  return {
    dataDir,
    root,
    port,
    env,
    violations,
    witness,
    endpoint,
    boot: (more: Record<string, string> = {}) => startServerProcess({ dataDir, port, env: { ...env, ...more } }),
    bootNode,

    /** Clients at work until `until` settles; then the group is killed, if it still lives. */
    load: (server: ServerProcess, random: Random, until: Promise<unknown>) =>
      work({ url: server.url, random }, () => until.then(server.kill)),
    work,

    /** What the crash left on the disk, looked at in a copy. */
    async checkCopy(): Promise<void> {
      const copy = join(root, 'copy')
      copyDataDir(dataDir, copy)
      const twin = await database?.twin()
      if (twin) await writeAsSqlite(twin.url, join(copy, 'svc.db'))
      violations.push(...inspectCopy(copy, witness))
      for (const problem of await verifyCopy(copy, twin?.url)) violations.push(`verify: ${problem}`)
      await twin?.drop()
    },

    /**
     * What a server that has just started says: first to those who were left without an answer; then no open
     * hold, and all that clients know (or only what is new).
     */
    async checkLive(server: ServerProcess, which: 'new' | 'all'): Promise<void> {
      const again = { url: server.url, key: devKeyOf(dataDir), pid: server.pid }
      violations.push(...(await retryAll(again, witness)))
      violations.push(...(await tellAll(again, stripe, witness)))
      await expectNoOpenHold(server)
      const from = which === 'all' ? { conversations: 0, keys: 0, made: 0 } : read
      const conversations = witness.conversations.filter(
        ({ pending }, at) => at >= from.conversations || Object.keys(pending).length > 0,
      )
      const [keys, made] = [witness.keys.slice(from.keys), witness.made.slice(from.made)]
      violations.push(...(await reread(again, { conversations, keys, made })))
      read = {
        conversations: witness.conversations.length,
        keys: witness.keys.length,
        made: witness.made.length,
      }
    },

    /** Removes everything, unless something was wrong: then data and log stay for everyone who looks into it. */
    async close(): Promise<void> {
      witness.close()
      stripe.stop()
      void endpoint.stop()
      if (violations.length === 0) {
        await database?.drop()
        rmSync(root, { recursive: true, force: true })
      } else {
        // Not in the temporary folder of this run, which goes with it.
        const kept = mkdtempSync(join(tmpdir().replace(/\/svc-tests-.*/, ''), 'svc-chaos-'))
        cpSync(root, kept, { recursive: true, filter: (path) => !path.endsWith('.sock') })
        violations.push(`the data and the log of acknowledgements are kept in ${kept}`)
        if (database) violations.push(`the database is kept: ${new URL(database.url).pathname.slice(1)}`)
      }
    },
  }

  /** A node at a port of its own: with the folder of the rig, or with another one and the same secrets. */
  async function bootNode(name = 'data', { env: more = {}, ...program }: Program = {}): Promise<ServerProcess> {
    const folder = join(root, name)
    if (!existsSync(folder) && existsSync(dataDir)) {
      mkdirSync(folder, { mode: 0o700 })
      cpSync(join(dataDir, 'secrets.json'), join(folder, 'secrets.json'))
    }
    return startServerProcess({ dataDir: folder, env: { ...env, ...more }, ...program })
  }

  /** Clients at work until `end` has done what ends their work. */
  async function work(
    of: Pick<Parameters<typeof startLoad>[0], 'url' | 'random' | 'cluster'>,
    end: () => Promise<unknown>,
  ): Promise<void> {
    const faults: string[] = []
    const load = startLoad({ ...of, key: devKeyOf(dataDir), stripe, endpoint, witness, faults })
    await end()
    await load.stop()
    witness.sync()
    for (const fault of new Set(faults)) violations.push(`a request was refused: ${fault}`)
  }

  async function expectNoOpenHold({ pid }: ServerProcess): Promise<void> {
    const waited = timeGivenTo(pid)
    const open = async () => (database ? database.openHolds() : openHolds(dataDir))
    for (let left = await open(); left > 0; left = await open()) {
      if (waited() > HOLDS_ENDED_WITHIN_MS) {
        violations.push(`${left} holds are open a minute after the start`)
        return
      }
      await Bun.sleep(50)
    }
  }
}
