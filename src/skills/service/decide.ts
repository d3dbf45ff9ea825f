import { storeAnswer } from '../../idempotency'
import { type Call, type Caller, ownerOf } from '../../kernel/caller'
import { mapPage, type Page } from '../../kernel/page'
import type { Tx } from '../../kernel/store'
import {
  notInForce,
  notInState,
  ownSubmission,
  reviewersOnly,
  securityReviewersOnly,
  skillErrors,
  suspendedSkill,
} from '../errors'
import { skillApproved, skillRejected, skillSuspended } from '../events'
import { presentRecord } from '../present'
import { skillRepository as rows, submissionRepository as submissions } from '../repository'
import { MOVES, mayDecide } from '../rules'
import { SubmissionId } from '../schema'
import type { Decision, DecisionInput, SubmissionQuery, SubmissionRecord } from '../schema-skill'
import type { SkillRow, SubmissionRow } from '../table'
import { assertMayManage, type SkillDeps } from './deps'
import { aboutOf, activateVersion, recordSubmissionChange } from './versions'

const NEWS = { approve: skillApproved, reject: skillRejected, suspend: skillSuspended, reinstate: skillApproved }
const DONE: Record<Decision, string> = {
  approve: 'approved',
  reject: 'rejected',
  suspend: 'suspended',
  reinstate: 'reinstated',
}

export async function listSubmissions(
  { store }: SkillDeps,
  { caller }: Call,
  query: SubmissionQuery,
): Promise<Page<SubmissionRecord>> {
  const own = { owner: ownerOf(caller), status: query.status }
  return mapPage(await submissions.list(store.read, own, query), presentRecord)
}

export async function getSubmission({ store }: SkillDeps, { caller }: Call, id: string): Promise<SubmissionRecord> {
  const row = SubmissionId.is(id) ? await submissions.findOwn(store.read, ownerOf(caller), id) : undefined
  if (!row) throw skillErrors.submissionNotFound()
  return presentRecord(row)
}

/** `DELETE /skills/submissions/{id}`: the author withdraws a pending submission. Throws 409 after a decision. */
export function withdrawSubmission(deps: SkillDeps, call: Call, id: string): Promise<SubmissionRecord> {
  const { store, audit } = deps
  return store.write(async (tx) => {
    const own = SubmissionId.is(id) ? await submissions.findOwn(tx, ownerOf(call.caller), id) : undefined
    if (!own) throw skillErrors.submissionNotFound()
    await assertMayManage(deps, tx, call.caller)
    // Locks the skill first, like every other state change, so that no deadlock is possible.
    await rows.lock(tx, own.skill_id)
    const row = await moved(deps, tx, own, 'pending_review', { status: 'withdrawn' }, 'withdrawn')
    await endVersion(deps, tx, row, 'draft')
    await audit.record(tx, call, {
      action: 'skill.withdrawn',
      entityType: 'submission',
      entityId: row.id,
      ...aboutOf(row),
    })
    tx.afterCommit(() => deps.changed(null))
    return presentRecord(row)
  })
}

/** Applies a decision made with a platform reviewer's session. Throws 409 for an impossible state change. */
export async function decideSubmission(
  deps: SkillDeps,
  call: Call,
  id: string,
  input: DecisionInput,
): Promise<SubmissionRecord> {
  const { orgs, store } = deps
  const { caller } = call
  const user = caller.type === 'session' ? await orgs.user(store.read, caller.userId) : null
  const role = user?.platform_role ?? null
  if (role === null) throw reviewersOnly()
  return settle(deps, call, id, input, (row) => {
    if (row.author_user_id === caller.userId) throw ownSubmission()
    if (!mayDecide(role, row.tier)) throw securityReviewersOnly()
  })
}

/** Applies a decision. `assertMay` runs after the submission is read and throws if the caller lacks permission. */
export function settle(
  deps: SkillDeps,
  call: Call<Caller>,
  id: string,
  { decision, reason, code }: DecisionInput,
  assertMay: (row: SubmissionRow) => void | Promise<void>,
): Promise<SubmissionRecord> {
  const { store } = deps
  return store.write(async (tx) => {
    const row = await findSubmission(tx, id)
    await assertMay(row)
    const skill = await rows.lock(tx, row.skill_id)
    // The author deleted the skill while this transaction waited for the lock.
    if (!skill) throw skillErrors.submissionNotFound()
    assertMeaning(decision, row, skill)
    const { from, to } = MOVES[decision]
    const newReason = reason ?? (decision === 'reinstate' ? null : row.reason)
    const reason_code = decision === 'reject' ? (code ?? null) : row.reason_code
    const settled = await moved(deps, tx, row, from, { status: to, reason: newReason, reason_code }, DONE[decision])
    await effect(deps, tx, decision, settled, skill)
    await recordSubmissionChange(deps, tx, call, settled, NEWS[decision])
    tx.afterCommit(() => deps.changed(null))
    return storeAnswer(tx, call, presentRecord(settled))
  })
}

/** Finds any submission, for reviewers and operators. Throws 404. */
export async function findSubmission(reader: Tx | SkillDeps['store']['read'], id: string): Promise<SubmissionRow> {
  const row = SubmissionId.is(id) ? await submissions.find(reader, id) : undefined
  if (!row) throw skillErrors.submissionNotFound()
  return row
}

async function moved(
  { clock }: SkillDeps,
  tx: Tx,
  row: SubmissionRow,
  from: SubmissionRow['status'],
  change: Partial<SubmissionRow>,
  wanted: string,
) {
  const next = await submissions.move(tx, row.id, from, { ...change, updated_at: clock.now() })
  if (!next) throw notInState((await findSubmission(tx, row.id)).status, wanted)
  return next
}

async function effect(deps: SkillDeps, tx: Tx, decision: Decision, row: SubmissionRow, skill: SkillRow): Promise<void> {
  const { clock } = deps
  const updated_at = clock.now()
  if (decision === 'approve') return activateVersion(deps, tx, row, (await rows.version(tx, row.version_id))!.manifest)
  if (decision === 'reject') return endVersion(deps, tx, row, 'rejected')
  const suspended = decision === 'suspend'
  const listed = !suspended && skill.visibility === 'public'
  await rows.update(tx, skill.id, { status: suspended ? 'suspended' : 'approved', listed, updated_at })
  await deps.triggers.followAll(tx, skill.id)
}

/** Withdraws an unapproved version. The live version remains. A skill without one gets the status `without`. */
async function endVersion(deps: SkillDeps, tx: Tx, row: SubmissionRow, without: 'draft' | 'rejected'): Promise<void> {
  const { clock } = deps
  await rows.updateVersion(tx, row.version_id, { status: 'withdrawn' })
  const skill = (await rows.find(tx, row.skill_id))!
  const status = skill.live_version_id ? skill.status : without
  await rows.update(tx, skill.id, { status, draft_version_id: null, updated_at: clock.now() })
  await deps.triggers.followAll(tx, skill.id)
}

/**
 * Throws 409 unless the decision fits the skill: only the live version can be suspended or reinstated, and no version
 * is approved while the skill is suspended.
 */
function assertMeaning(decision: Decision, row: SubmissionRow, skill: SkillRow): void {
  const inState = row.status === MOVES[decision].from
  if (!inState) return
  if (decision === 'approve' && skill.status === 'suspended') throw suspendedSkill()
  const aboutLive = decision === 'suspend' || decision === 'reinstate'
  if (aboutLive && skill.live_version_id !== row.version_id) throw notInForce()
}
