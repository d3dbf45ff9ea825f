import { storeAnswer } from '../../idempotency'
import { type Call, ownerOf, type TenantCaller } from '../../kernel/caller'
import { AppError } from '../../kernel/errors'
import { OrgId } from '../../kernel/ids'
import { isUniqueViolation, type Reader, type Tx } from '../../kernel/store'
import { notAMember, skillErrors, suspendedSkill } from '../errors'
import { type SkillManifest, warningsOf } from '../manifest'
import { skillRepository as rows, submissionRepository as submissions } from '../repository'
import {
  complete,
  type Evidence,
  type Examined,
  examineInTurns,
  hasPassed,
  resultOf,
  withSecondOpinion,
} from '../review'
import { SkillId, type Visibility } from '../schema'
import type { Review, Submission, SubmitInput } from '../schema-skill'
import type { SkillRow } from '../table'
import { assertMayManage, type SkillDeps } from './deps'
import { publishVersion } from './versions'

/** Maximum number of submissions per author in 24 hours (docs/api.md 8.2). */
const MAX_SUBMISSIONS = 10
const WINDOW_MS = 24 * 60 * 60_000

export type Target = { visibility: Visibility; orgId: OrgId | null }
/** A submission, or the review that rejected it. */
export type Outcome =
  | { accepted: true; submission: Submission; review: Review; warnings: string[] }
  | { accepted: false; review: Review; evidence: Evidence[] }

/**
 * `POST /skills/submit`: submits a new skill, or with `skill_id` a new version of the caller's skill. Returns the
 * review in both cases. Stores nothing for a manifest that fails. Throws 404 for an unknown `skill_id`, 403 for a
 * foreign org, 409 while the skill is suspended, 429 `rate_limit_exceeded`.
 */
export async function submit(deps: SkillDeps, call: Call, input: SubmitInput): Promise<Outcome> {
  // Checked before the costly examination as well as inside the transaction.
  await assertPace(deps, deps.store.read, call.caller)
  const examined = await examineAll(deps, input.manifest)
  const unit = async (tx: Tx): Promise<Outcome> => {
    const outcome = await submitInUnit(deps, tx, call, input, examined)
    if (!outcome.accepted) return outcome
    const { accepted: _, ...answer } = outcome
    await storeAnswer(tx, call, answer)
    return outcome
  }
  try {
    return await deps.store.write(unit)
  } catch (error) {
    // The slug was taken between the check and the insert. The second attempt reports it.
    if (isUniqueViolation(error)) return deps.store.write(unit)
    throw error
  }
}

/** Runs all checks that need no database, including whether tool endpoints are allowed and an engine's opinion. */
export async function examineAll(
  { tools, opinion }: Pick<SkillDeps, 'tools' | 'opinion'>,
  written: Record<string, unknown>,
): Promise<Examined> {
  const examined = await examineInTurns(written)
  if (!examined.manifest) return examined
  try {
    tools.ofSkill('review', examined.manifest.tools)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const finding = { severity: 'fail' as const, path: error.param ?? 'tools', line: null, message: error.message }
    const checks = { ...examined.checks, schema: resultOf([finding]) }
    return { ...examined, checks, evidence: [{ check: 'schema', ...finding }, ...examined.evidence] }
  }
  return withSecondOpinion(examined, opinion)
}

/** Submits an examined manifest within the given transaction. */
export async function submitInUnit(
  deps: SkillDeps,
  tx: Tx,
  call: Call,
  input: SubmitInput,
  examined: Examined,
): Promise<Outcome> {
  const { caller } = call
  await assertMayManage(deps, tx, caller)
  const updating = input.skill_id == null ? null : await ownSkill(tx, caller, input.skill_id)
  const target = await targetOf(deps, tx, caller, updating ? await asBefore(tx, updating, input) : input)
  await assertPace(deps, tx, caller)
  const { manifest } = examined
  // Without a valid manifest there is no slug or version to check.
  if (!manifest)
    return {
      accepted: false,
      review: { passed: hasPassed(examined.checks), tier: examined.tier, checks: examined.checks },
      evidence: examined.evidence,
    }
  const { review, evidence } = complete(examined, await surroundings(tx, caller, manifest, updating))
  if (!review.passed) return { accepted: false, review, evidence }
  const submission = await publishVersion(deps, tx, call, { manifest, review, evidence, updating, target })
  return { accepted: true, submission, review, warnings: warningsOf(examined.dropped) }
}

/** Keeps the skill's visibility unless the input names another, so that omitting it cannot publish a private skill. */
async function asBefore(tx: Tx, { id, visibility, org_scope_id }: SkillRow, input: SubmitInput): Promise<SubmitInput> {
  if (input.visibility !== undefined || !(await submissions.any(tx, id))) return input
  return { ...input, visibility, target_org_id: input.target_org_id ?? org_scope_id }
}

async function targetOf({ orgs }: SkillDeps, tx: Tx, caller: TenantCaller, input: SubmitInput): Promise<Target> {
  const visibility = input.visibility ?? 'public'
  if (visibility !== 'org') return { visibility, orgId: null }
  const wanted = input.target_org_id
  if (!wanted) throw skillErrors.orgMissing.with({ param: 'target_org_id' })
  const reachable = OrgId.is(wanted) && (caller.orgId === null || caller.orgId === wanted)
  const role = reachable ? await orgs.roleOf(tx, wanted, caller.userId) : null
  if (!reachable || role === null) throw notAMember()
  await orgs.assertPermission(tx, caller, 'manageSkills', wanted)
  return { visibility, orgId: wanted }
}

async function ownSkill(tx: Tx, caller: TenantCaller, id: string): Promise<SkillRow> {
  if (!SkillId.is(id)) throw skillErrors.skillNotFound()
  const row = await rows.lock(tx, id)
  if (!row || row.owner !== ownerOf(caller)) throw skillErrors.skillNotFound()
  if (row.status === 'suspended') throw suspendedSkill()
  return row
}

async function assertPace({ clock }: SkillDeps, db: Reader, { userId }: TenantCaller): Promise<void> {
  const now = clock.now()
  const moments = await submissions.momentsSince(db, userId, now - WINDOW_MS, MAX_SUBMISSIONS)
  if (moments.length < MAX_SUBMISSIONS) return
  const retryAfterS = Math.max(1, Math.ceil((moments[0]! + WINDOW_MS - now) / 1000))
  throw skillErrors.tooManySubmissions.with({ retryAfterS }, MAX_SUBMISSIONS, retryAfterS)
}

async function surroundings(tx: Tx, caller: TenantCaller, { slug, version }: SkillManifest, updating: SkillRow | null) {
  if (updating) {
    const earlier = await submissions.versionNumbers(tx, updating.id)
    return { slug, version, earlier, updating: updating.slug, taken: 'own' as const }
  }
  const other = await rows.bySlug(tx, slug)
  const taken = !other ? ('free' as const) : other.owner === ownerOf(caller) ? ('own' as const) : ('other' as const)
  return { slug, version, earlier: [], updating: null, taken }
}
