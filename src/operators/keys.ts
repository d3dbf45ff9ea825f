import { actingUserOf, findOwner, type KeyService, type OrgService } from '../accounts'
import type { ApiKey, ApiKeyWithSecret } from '../accounts/keys/schema'
import type { Call, OperatorCaller } from '../kernel/caller'
import { randomHex } from '../kernel/crypto'
import type { OrgId, UserId } from '../kernel/ids'
import type { Page } from '../kernel/page'
import type { Store, Tx } from '../kernel/store'
import type { LimitIncreases } from '../limits'
import type { NewOperatorKey, OperatorKeyPatch, OperatorKeyQuery } from './schema'

type Deps = { store: Store; orgs: OrgService; keys: KeyService; increases: LimitIncreases }

/** What operators do with keys of any owner (dx 2.9). */
export function createKeyVerbs({ store, orgs, keys, increases }: Deps) {
  return {
    list,
    create,
    get: keys.operator.get,
    revoke: keys.operator.revoke,
    rotate: keys.operator.rotate,
    check,
    update,
  }

  /** Newest first, of all owners or of one. Throws 404 for an unknown owner. */
  async function list(call: Call<OperatorCaller>, query: OperatorKeyQuery): Promise<Page<ApiKey>> {
    const { org, user, live, limit, cursor } = query
    const orgId = org && (await findOwner(orgs, store.read, org)).orgId
    const userId = user && actingUserOf(await findOwner(orgs, store.read, user))
    return keys.operator.list(call, {
      limit,
      ...(cursor ? { cursor } : {}),
      ...(orgId ? { orgId } : {}),
      ...(userId ? { userId } : {}),
      ...(live ? { live } : {}),
    })
  }

  /**
   * A key for an org, a user or, with neither named, the owner that the first run created. On a server without accounts
   * it first creates that owner and org, in the same transaction. Throws 409 for a deleted org.
   */
  async function create(call: Call<OperatorCaller>, input: NewOperatorKey): Promise<ApiKeyWithSecret> {
    const { org, user, personal, ...params } = input
    const named = org ?? user
    const owner =
      named === undefined && !(await orgs.oldestUser(store.read)) ? null : await findOwner(orgs, store.read, named)
    return store.write(async (tx) => {
      const { userId, orgId } = owner ? { userId: actingUserOf(owner), orgId: owner.orgId } : await firstOwner(tx, call)
      return keys.operator.createIn(tx, call, { ...params, userId, orgId: personal ? null : orgId })
    })
  }

  /** Sets what an owner may set, and the tier. Throws 404, 400, 409 when the tier of a revoked or expired key is set. */
  async function update(
    call: Call<OperatorCaller>,
    ref: string,
    { tier, ...patch }: OperatorKeyPatch,
  ): Promise<ApiKey> {
    const { id } = await keys.operator.get(call, ref)
    return store.write(async (tx) => {
      if (tier) await increases.setTierIn(tx, call, id, tier)
      return keys.operator.updateIn(tx, call, id, patch)
    })
  }

  /** Finds the key of a secret; the answer never repeats the secret. */
  async function check(call: Call<OperatorCaller>, secret: string) {
    const key = await keys.operator.bySecret(call, secret)
    return { object: 'key_check' as const, known: key !== null, key }
  }

  async function firstOwner(tx: Tx, call: Call<OperatorCaller>): Promise<{ userId: UserId; orgId: OrgId }> {
    const user = await orgs.createUser(tx, { email: `owner-${randomHex(4)}@svc.invalid`, name: 'Owner' })
    const org = await orgs.createOrg(tx, call, user.id, { name: 'Main' })
    await orgs.makeActive(tx, user.id, org.id)
    return { userId: user.id, orgId: org.id }
  }
}
