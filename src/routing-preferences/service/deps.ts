import type { AuditLog } from '../../audit'
import type { Call, Caller, OwnerScope, TenantCaller } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import type { Values } from '../../kernel/config'
import { AppError } from '../../kernel/errors'
import type { OrgId } from '../../kernel/ids'
import type { Reader, Store, Tx } from '../../kernel/store'
import type { KeyBindings } from '../../keys'
import type { OrgService } from '../../orgs'
import type { preferenceSettings } from '../config'
import type { EffectiveRouting } from '../effective'
import { personalByOrgKey, preferenceNotFound, teamForbidden, teamWithoutOrg } from '../errors'
import { type Reach, preferenceRepository as rows } from '../repository'
import { PreferenceId, type PreferenceScope } from '../schema'
import type { PreferenceRow } from '../table'

export type PreferenceDeps = {
  store: Store
  audit: AuditLog
  clock: Clock
  orgs: Pick<OrgService, 'orgIdsWith' | 'assertPermission' | 'lockOwner'>
  settings: Values<typeof preferenceSettings>
  bindings: KeyBindings
  effective: EffectiveRouting
}

type Sight = { orgs: Pick<OrgService, 'orgIdsWith'> }

/** The owners whose preferences a caller sees: with an org's key its org, a person and their orgs, operators all. */
export async function ownersSeen({ orgs }: Sight, db: Reader, caller: Caller): Promise<Reach> {
  if (caller.type === 'operator') return 'everyone'
  if (caller.orgId) return [`org:${caller.orgId}`]
  const orgIds = await orgs.orgIdsWith(db, caller.userId, 'viewUsage')
  return [`user:${caller.userId}`, ...orgIds.map((id): OwnerScope => `org:${id}`)]
}

/** A preference the caller sees. A foreign, an unknown and a malformed id are the same 404 (I22). */
export async function seen(deps: Sight, db: Reader, caller: Caller, id: string): Promise<PreferenceRow> {
  const owners = await ownersSeen(deps, db, caller)
  const row = PreferenceId.is(id) ? await rows.find(db, owners, id) : undefined
  if (!row) throw preferenceNotFound()
  return row
}

/** The same inside a unit, with the row locked until it commits: a deleted preference is never changed or bound. */
export async function seenLocked(deps: Sight, tx: Tx, caller: Caller, id: string): Promise<PreferenceRow> {
  const owners = await ownersSeen(deps, tx, caller)
  const row = PreferenceId.is(id) ? await rows.findLocked(tx, owners, id) : undefined
  if (!row) throw preferenceNotFound()
  return row
}

/** Throws 403 `missing_scope` for a team's preference without `manageWebhooks`. */
export async function assertMayChange(
  deps: Pick<PreferenceDeps, 'orgs'>,
  db: Reader,
  caller: Caller,
  { org_id }: Pick<PreferenceRow, 'org_id'>,
): Promise<void> {
  if (org_id && caller.type !== 'operator') await assertMayManage(deps, db, caller, org_id)
}

/** Throws 403 `missing_scope`, the only code for a missing permission here (contract 1.2). */
export async function assertMayManage(
  { orgs }: Pick<PreferenceDeps, 'orgs'>,
  db: Reader,
  caller: TenantCaller,
  orgId: OrgId,
): Promise<void> {
  try {
    await orgs.assertPermission(db, caller, 'manageWebhooks', orgId)
  } catch (error) {
    throw error instanceof AppError && error.kind === 'forbidden' ? teamForbidden() : error
  }
}

/**
 * The scope and owner of a new preference. By default an org's key makes team preferences, because it acts for its
 * org. Throws 400 `org_required`, 403 `missing_scope`.
 */
export async function placeOf(deps: PreferenceDeps, db: Reader, caller: TenantCaller, wanted?: PreferenceScope) {
  const scope = wanted ?? (caller.orgId ? 'team' : 'personal')
  if (scope === 'personal') {
    if (caller.orgId) throw personalByOrgKey()
    return { scope, owner: `user:${caller.userId}` as OwnerScope, org_id: null }
  }
  const org_id = caller.orgId ?? caller.activeOrgId
  if (!org_id) throw teamWithoutOrg()
  await assertMayManage(deps, db, caller, org_id)
  return { scope, owner: `org:${org_id}` as OwnerScope, org_id }
}

type Note = {
  action: `routing_preference.${'created' | 'updated' | 'deleted'}`
  fields?: string[]
  metadata?: Record<string, unknown>
}

/** Audits a change of a preference under its owner, and forgets the cached preference (contract 13, 19). */
export async function recordOn(
  { audit, effective }: PreferenceDeps,
  tx: Tx,
  call: Call<Caller>,
  { id, owner }: Pick<PreferenceRow, 'id' | 'owner'>,
  { action, ...input }: Note,
): Promise<void> {
  await audit.record(tx, call, { action, entityType: 'routing_preference', entityId: id, scope: owner, input })
  tx.afterCommit(() => effective.forgetPreference(id, owner))
}
