import { type Call, type OperatorCaller, ownerOf } from '../kernel/caller'
import type { Store } from '../kernel/store'
import type { KeyService } from '../keys'
import { findOwner, type OrgService } from '../orgs'
import type { SkillService } from '../skills'
import type { OperatorSkillWords } from './schema-skills'

type Deps = {
  store: Store
  orgs: OrgService
  keys: Pick<KeyService, 'operator'>
  skills: Pick<SkillService, 'operator' | 'store' | 'installing'>
}
type OperatorCall = Call<OperatorCaller>

/** What operators do with skills, and for owners of keys (dx 2.11). */
export function createSkillVerbs({ store, orgs, keys, skills }: Deps) {
  const { get, versions, reviews, disable, enable, put } = skills.store
  return { list, get, versions, reviews, disable, enable, put, install, uninstall }

  /** Skills of everyone, of one owner, or of the owner of a key. Throws 404 for an unknown owner or key. */
  async function list(call: OperatorCall, { owner, key, ...query }: OperatorSkillWords) {
    if (key !== undefined) {
      return skills.store.list(call, { ...query, owner: ownerOf(await keys.operator.callerOf(call, key)) })
    }
    if (owner === undefined) return skills.store.list(call, query)
    const scope = owner === 'server' ? ('server' as const) : (await findOwner(orgs, store.read, owner)).scope
    return skills.store.list(call, { ...query, owner: scope })
  }

  /** Installs as the given key would. Throws 404 for the key, and for a skill its owner cannot see. */
  async function install(call: OperatorCall, slug: string, key: string): Promise<{ installed: true }> {
    await skills.installing.install(await callAsKey(call, key), { slug }, call)
    return { installed: true }
  }

  /** Throws 404 for the key, and for a skill its owner has not installed. */
  async function uninstall(call: OperatorCall, slug: string, key: string): Promise<{ uninstalled: true }> {
    return skills.installing.uninstall(await callAsKey(call, key), { slug }, call)
  }

  async function callAsKey(call: OperatorCall, key: string): Promise<Call> {
    const { requestId, route, signal } = call
    return { caller: await keys.operator.callerOf(call, key), requestId, route, signal }
  }
}
