import type { Call, OperatorCaller } from '../kernel/caller'
import { invalidInput } from '../kernel/errors'
import type { Store } from '../kernel/store'
import type { KeyService } from '../keys'
import { actingUserOf, findOwner, type OrgService, type Owner } from '../orgs'
import type { PreferenceService, RoutingPreview } from '../routing-preferences'
import type {
  CorrectionQuery,
  NewPreference,
  PreferenceQuery,
  PreviewOrder,
  SuggestOrder,
} from '../routing-preferences/schema'

type Deps = {
  store: Store
  orgs: OrgService
  keys: Pick<KeyService, 'operator'>
  preferences: Pick<PreferenceService, 'operator'>
  routingPreview: RoutingPreview
}
type OperatorCall = Call<OperatorCaller>
/** Owner as operators write it: org or user. */
type OwnerParam = { owner?: string | undefined }

/** Routing preferences of any owner; also tries prompts on them and suggests rules from corrections. */
export function createPreferenceVerbs({ store, orgs, keys, preferences: { operator }, routingPreview }: Deps) {
  const { get, update, remove } = operator
  return { list, create, get, update, remove, preview, suggest, corrections }

  async function list(_call: OperatorCall, { owner, ...query }: PreferenceQuery & OwnerParam) {
    return operator.listOf(owner === undefined ? 'everyone' : [(await findOwner(orgs, store.read, owner)).scope], query)
  }

  async function create(call: OperatorCall, { owner }: OwnerParam, order: NewPreference) {
    return operator.createFor(call, placeOf(await findOwner(orgs, store.read, owner), order.scope), order)
  }

  /** Routes as for a key (named in any way) or for an owner; with neither, by the defaults alone. */
  async function preview(call: OperatorCall, { owner }: OwnerParam, { key_id, ...order }: PreviewOrder) {
    if (key_id !== undefined) return routingPreview.previewFor(call, await keys.operator.callerOf(call, key_id), order)
    if (owner === undefined) return routingPreview.previewFor(call, null, order)
    const found = await findOwner(orgs, store.read, owner)
    const as = { type: 'session' as const, userId: actingUserOf(found), orgId: found.orgId }
    return routingPreview.previewFor(call, as, order)
  }

  async function suggest({ signal }: OperatorCall, { owner }: OwnerParam, order: SuggestOrder) {
    return operator.suggestFor((await findOwner(orgs, store.read, owner)).scope, order, signal)
  }

  async function corrections(_call: OperatorCall, { owner, ...query }: CorrectionQuery & OwnerParam) {
    return operator.correctionsOf((await findOwner(orgs, store.read, owner)).scope, query)
  }
}

/** Owner of something new: for an org it belongs to the team, unless `personal` asks for its first owner's own. */
function placeOf(owner: Owner, wanted: 'personal' | 'team' | undefined) {
  const scope = wanted ?? (owner.orgId ? 'team' : 'personal')
  const user_id = actingUserOf(owner)
  if (scope === 'personal') return { scope, user_id, org_id: null, owner: `user:${user_id}` as const }
  if (!owner.orgId) {
    throw invalidInput('scope', `"scope" is "team", but ${owner.name} is a person. Name an organization: --org ORG.`)
  }
  return { scope, user_id, org_id: owner.orgId, owner: owner.scope }
}
