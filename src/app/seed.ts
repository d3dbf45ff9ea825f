import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Call, OperatorCaller } from '../kernel/caller'
import { newRequestId } from '../kernel/ids'
import type { Container } from './container'

export type Seed = { key: string; keyFile: string; org: string }

/**
 * The first run in dev mode makes an owner, an org and a key (design 10): on tier enterprise, which
 * only the operator plane may give. The key is written to `data/dev-key`, for its owner only.
 */
export async function seedFirstRun(container: Container, dataDir: string): Promise<Seed | null> {
  const keyFile = join(dataDir, 'dev-key')
  const { store, orgs, billing, keys } = container
  const call = startUpCall()
  if (existsSync(keyFile) || (await keys.operator.list(call, { limit: 1 })).items.length) return null
  const made = await store.write(async (tx) => {
    const user = await orgs.createUser(tx, { email: 'owner@localhost', name: 'Owner' })
    const org = await orgs.createOrg(tx, call, user.id, { name: 'Dev' })
    await orgs.makeActive(tx, user.id, org.id)
    await billing.openAccount(tx, `user:${user.id}`)
    await billing.openAccount(tx, `org:${org.id}`)
    return keys.operator.createIn(tx, call, { name: 'Dev laptop', userId: user.id, orgId: null, tier: 'enterprise' })
  })
  writeFileSync(keyFile, `${made.key}\n`, { mode: 0o600 })
  return { key: made.key, keyFile, org: 'Dev' }
}

/** What the server does on its own at start is on the record as its own. */
function startUpCall(): Call<OperatorCaller> {
  return {
    caller: { type: 'operator', role: 'admin', name: 'first run', transport: 'local', reason: 'first run' },
    requestId: newRequestId(),
    route: 'BOOT /seed',
    signal: new AbortController().signal,
  }
}
