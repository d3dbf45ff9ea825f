import type { LRUCache } from 'lru-cache'
import type { OrgService } from '../../accounts'
import type { AuditLog } from '../../audit'
import type { EventBus } from '../../events'
import type { EngineOpinion } from '../../guardrails'
import { type Call, type Caller, type OwnerScope, ownerOf, type TenantCaller } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import type { Values } from '../../kernel/config'
import type { Reader, Store, Tx } from '../../kernel/store'
import type { Tools } from '../../tools'
import type { skillSettings } from '../config'
import { skillErrors } from '../errors'
import { skillRepository as rows } from '../repository'
import { maySee, type Viewer } from '../rules'
import type { SkillDetails, VersionId } from '../schema'
import type { SkillRow } from '../table'
import type { SkillTriggers } from './triggers'

export type SkillDeps = {
  store: Store
  audit: AuditLog
  events: EventBus
  clock: Clock
  orgs: Pick<OrgService, 'user' | 'orgIdsWith' | 'assertPermission' | 'roleOf'>
  tools: Pick<Tools, 'ofSkill'>
  triggers: Pick<SkillTriggers, 'follow' | 'followAll'>
  settings: Values<typeof skillSettings>
  /** Details of live versions that lists show besides the row. */
  details: LRUCache<VersionId, { details: SkillDetails; chars: number }>
  /** Asks an engine for a second opinion on skills that no person would review. Null when no engine may be asked. */
  opinion: EngineOpinion | null
  /** Invalidates the cached active skills of an owner, or of all owners if null. Call it after the commit. */
  changed(owner: string | null): void
}

/** The visibility scope of a caller: an org's key sees that org's skills, a user sees the skills of all their orgs. */
export async function viewerOf(
  { orgs }: { orgs: Pick<OrgService, 'orgIdsWith'> },
  db: Reader,
  caller: TenantCaller,
): Promise<Viewer> {
  const owner = ownerOf(caller)
  if (caller.orgId) return { owner, orgIds: [caller.orgId] }
  return { owner, orgIds: await orgs.orgIdsWith(db, caller.userId, 'viewUsage') }
}

/** Throws 403 `forbidden` for an org's key whose creator may no longer manage the org's skills. */
export async function assertMayManage(
  { orgs }: Pick<SkillDeps, 'orgs'>,
  db: Reader,
  caller: TenantCaller,
): Promise<void> {
  if (caller.orgId) await orgs.assertPermission(db, caller, 'manageSkills', caller.orgId)
}

export type VisibleSkill = { row: SkillRow; viewer: Viewer }

/** A skill the caller may see, by id or slug. Hidden, unknown and malformed references all give the same 404. */
export async function findVisible(
  deps: Pick<SkillDeps, 'orgs'>,
  db: Reader,
  caller: TenantCaller,
  ref: string,
): Promise<VisibleSkill> {
  const row = await rows.byRef(db, ref)
  if (!row) throw skillErrors.skillNotFound()
  const viewer = await viewerOf(deps, db, caller)
  if (!maySee(row, viewer)) throw skillErrors.skillNotFound()
  return { row, viewer }
}

type Note = {
  action: `skill.${string}`
  fields?: string[]
  metadata?: Record<string, unknown>
  output?: Record<string, unknown>
}

/** Writes an audit entry for a skill, in the actor's scope unless `scope` is given. */
export async function recordSkill(
  { audit }: Pick<SkillDeps, 'audit'>,
  tx: Tx,
  call: Call<Caller>,
  { id, slug }: Pick<SkillRow, 'id' | 'slug'>,
  { action, metadata, output, ...rest }: Note,
  scope?: OwnerScope | 'server',
): Promise<void> {
  const input = { ...rest, metadata: { slug, ...metadata } }
  const optional = { ...(output ? { output } : {}), ...(scope ? { scope } : {}) }
  await audit.record(tx, call, { action, entityType: 'skill', entityId: id, input, ...optional })
}
