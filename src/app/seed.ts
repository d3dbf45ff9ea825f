import { join } from 'node:path'
import type { Call, OperatorCaller } from '../kernel/caller'
import { newRequestId } from '../kernel/ids'
import { DEV_KEY, DEV_OWNER } from '../kernel/user-folder'
import type { Container } from './container'
import { writePrivate } from './private-file'

export type Seed = { key: string; keyFile: string; org: string }

/**
 * The first run in dev mode creates an owner, an org and a key (docs/design.md 10). The key has tier enterprise, which
 * only the operator API may grant. The org is not active, so the key's calls are charged and recorded under the user,
 * where people look first. `data/dev-key` is written before the commit that makes the key valid. A crash in between
 * leaves a file that the next start replaces, never a lost key.
 */
export async function seedFirstRun(container: Container, dataDir: string): Promise<Seed | null> {
  const keyFile = join(dataDir, 'dev-key')
  const { store, orgs, billing, keys } = container
  const call = startUpCall()
  if (await hasKeys(container)) return null
  const made = await store.write(async (tx) => {
    const user = await orgs.createUser(tx, { email: DEV_OWNER, name: 'Owner' })
    const org = await orgs.createOrg(tx, call, user.id, { name: 'Dev' })
    await billing.openAccount(tx, `user:${user.id}`)
    await billing.openAccount(tx, `org:${org.id}`)
    // A personal key may do everything. An org key could not create an org or change settings.
    const input = { name: DEV_KEY, userId: user.id, orgId: null, tier: 'enterprise' } as const
    const made = await keys.createIn(tx, call, input)
    writePrivate(keyFile, `${made.key}\n`)
    return made
  })
  return { key: made.key, keyFile, org: 'Dev' }
}

/** A link that signs the owner of a first run in, once, within 15 minutes. */
export function firstLink({ store, orgs, audit, signInLinks }: Container): Promise<string | null> {
  return store.write(async (tx) => {
    const owner = await orgs.userByEmail(tx, DEV_OWNER)
    if (!owner) return null
    const scope = `user:${owner.id}` as const
    await audit.record(tx, startUpCall(), { action: 'auth.link_made', entityType: 'user', entityId: owner.id, scope })
    return (await signInLinks.make(tx, owner)).url
  })
}

/** True if any API key exists. Without a key nobody can call the API. */
export const hasKeys = async ({ keys }: Container): Promise<boolean> => (await keys.count(startUpCall())) > 0

/** True if the key that a first run in dev mode created still works. */
export async function hasDevKey({ store, orgs, keys }: Container): Promise<boolean> {
  const owner = await orgs.userByEmail(store.read, DEV_OWNER)
  if (!owner) return false
  const { items } = await keys.list(startUpCall(), { user: owner.id, live: true, limit: 100 })
  return items.some(({ name }) => name === DEV_KEY)
}

/** The caller for actions of the server itself at start. The audit record names it `first run`. */
function startUpCall(): Call<OperatorCaller> {
  return {
    caller: { type: 'operator', role: 'admin', name: 'first run', transport: 'local', reason: 'first run' },
    requestId: newRequestId(),
    route: 'BOOT /seed',
    signal: new AbortController().signal,
  }
}
