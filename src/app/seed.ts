import { join } from 'node:path'
import type { Call, OperatorCaller } from '../kernel/caller'
import { newRequestId } from '../kernel/ids'
import type { Container } from './container'
import { writePrivate } from './private-file'

export type Seed = { key: string; keyFile: string; org: string }

/**
 * The first run in dev mode makes an owner, an org and a key (design 10): on tier enterprise, which
 * only the operator plane may give. The org is not active yet: what the key does is then paid, counted and
 * recorded where one looks first, with the API as with the CLI. The key is in `data/dev-key`, for its owner only, before the commit
 * that makes it one: a crash between the two leaves a file that the next start replaces, never a lost key.
 */
export async function seedFirstRun(container: Container, dataDir: string): Promise<Seed | null> {
  const keyFile = join(dataDir, 'dev-key')
  const { store, orgs, billing, keys } = container
  const call = startUpCall()
  if (await hasKeys(container)) return null
  const made = await store.write(async (tx) => {
    const user = await orgs.createUser(tx, { email: 'owner@localhost', name: 'Owner' })
    const org = await orgs.createOrg(tx, call, user.id, { name: 'Dev' })
    await billing.openAccount(tx, `user:${user.id}`)
    await billing.openAccount(tx, `org:${org.id}`)
    // A personal key may do everything; an org's could not found an org or change settings.
    const order = { name: 'Dev laptop', userId: user.id, orgId: null, tier: 'enterprise' } as const
    const made = await keys.operator.createIn(tx, call, order)
    writePrivate(keyFile, `${made.key}\n`)
    return made
  })
  return { key: made.key, keyFile, org: 'Dev' }
}

/** Whether anyone has a key; without one nobody can ask anything. */
export const hasKeys = async ({ keys }: Container): Promise<boolean> =>
  (await keys.operator.list(startUpCall(), { limit: 1 })).items.length > 0

/** What the server does on its own at start is on the record as its own. */
function startUpCall(): Call<OperatorCaller> {
  return {
    caller: { type: 'operator', role: 'admin', name: 'first run', transport: 'local', reason: 'first run' },
    requestId: newRequestId(),
    route: 'BOOT /seed',
    signal: new AbortController().signal,
  }
}
