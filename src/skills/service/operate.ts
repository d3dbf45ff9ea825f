import type { Call, OperatorCaller } from '../../kernel/caller'
import { iso } from '../../kernel/clock'
import { mapPage, type Page } from '../../kernel/page'
import type { Reader } from '../../kernel/store'
import { diffManifests, type ManifestDiff } from '../diff'
import { claimedByOther, notClaimed, unreadDiff } from '../errors'
import { presentOperated } from '../present'
import { skillRepository as rows } from '../repository'
import { submissionRepository as submissions } from '../repository-submissions'
import { examineInTurns } from '../review'
import type {
  OperatorChecks,
  OperatorDecision,
  OperatorRecord,
  OperatorSubmission,
  OperatorSubmissionQuery,
  SubmissionStats,
} from '../schema-operator'
import { statsOf } from '../stats'
import type { SubmissionRow } from '../table'
import type { createDecisions } from './decide'
import type { SkillDeps } from './deps'

/** How long a claim keeps others away (dx 2.11); it bars nobody, and is shown to everyone. */
const CLAIM_MS = 30 * 60_000

type By = Call<OperatorCaller>

/** What operators do with submissions (dx 2.11). */
export function operateSkills(
  { store, clock, audit }: SkillDeps,
  { find, settle }: ReturnType<typeof createDecisions>,
) {
  return { list, get, checks, diff, claim, unclaim, decide, stats }

  async function list({ caller }: By, query: OperatorSubmissionQuery): Promise<Page<OperatorRecord>> {
    const { status, tier, mine } = query
    const claimedBy = mine ? { name: caller.name, now: clock.now() } : undefined
    return mapPage(await submissions.list(store.read, { status, tier, claimedBy }, query), shown)
  }

  /** With the manifest, what is in force now, why it has its tier, and each finding with its line. Throws 404. */
  async function get(_call: By, id: string): Promise<OperatorSubmission> {
    const row = await find(store.read, id)
    const skill = (await rows.find(store.read, row.skill_id))!
    const { manifest } = (await rows.version(store.read, row.version_id))!
    const live = skill.live_version_id ? await rows.version(store.read, skill.live_version_id) : undefined
    return {
      ...shown(row),
      name: manifest.name,
      live_version: live?.version ?? null,
      tier_reasons: (await examineInTurns(manifest)).reasons,
      findings: row.evidence,
      manifest,
    }
  }

  /** Each check with what it saw: of the day it was submitted or, with `rerun`, of the checks as they are today. Throws 404. */
  async function checks(_call: By, id: string, rerun: boolean): Promise<OperatorChecks> {
    const row = await find(store.read, id)
    if (!rerun) return { tier: row.tier, checks: row.checks, findings: row.evidence, rerun }
    const { manifest } = (await rows.version(store.read, row.version_id))!
    const { tier, checks: now, evidence } = await examineInTurns(manifest)
    return { tier, checks: now, findings: evidence, rerun }
  }

  /** Against the version in force; against nothing for a new skill. Throws 404. */
  async function diff(_call: By, id: string): Promise<ManifestDiff> {
    return diffOf(store.read, await find(store.read, id))
  }

  /** Says for half an hour that the caller is at it; again renews it. Throws 404, 409 while it is another's. */
  function claim(call: By, id: string): Promise<OperatorRecord> {
    return mark(call, id, { claimed_by: call.caller.name, claimed_until: clock.now() + CLAIM_MS }, 'skill.claimed')
  }

  /** Throws 404, 409 for a claim that is not the caller's. */
  async function unclaim(call: By, id: string): Promise<OperatorRecord> {
    if (!holderOf(await find(store.read, id))) throw notClaimed()
    return mark(call, id, { claimed_by: null, claimed_until: null }, 'skill.unclaimed')
  }

  function mark(call: By, id: string, change: Claim, action: string): Promise<OperatorRecord> {
    return store.write(async (tx) => {
      const row = await find(tx, id)
      const holder = holderOf(row)
      if (holder !== null && holder !== call.caller.name) throw claimedByOther(holder, iso(row.claimed_until!))
      const marked = (await submissions.move(tx, row.id, row.status, change)) ?? (await find(tx, id))
      const input = { metadata: { slug: row.slug } }
      await audit.record(tx, call, { action, entityType: 'submission', entityId: row.id, scope: 'server', input })
      return shown(marked)
    })
  }

  /**
   * Approves, rejects, suspends or reinstates. Approving tier security needs `read_diff` to name the diff as
   * it is now. Throws 404, 409 for a move there is not and for a diff that was not read.
   */
  async function decide(call: By, id: string, order: OperatorDecision): Promise<OperatorRecord> {
    await settle(call, id, order, async (row) => {
      if (order.decision !== 'approve' || row.tier !== 'security' || row.status !== 'pending_review') return
      if ((await diffOf(store.read, row)).sha !== order.read_diff) throw unreadDiff()
    })
    return shown(await find(store.read, id))
  }

  /** What waits, for how long, and what was decided, by tier. */
  async function stats(_call: By): Promise<SubmissionStats> {
    return statsOf(await submissions.counts(store.read), clock.now())
  }

  /** Who is at it now. */
  function holderOf({ claimed_by, claimed_until }: SubmissionRow): string | null {
    return claimed_until !== null && claimed_until > clock.now() ? claimed_by : null
  }

  function shown(row: SubmissionRow): OperatorRecord {
    return presentOperated(row, holderOf(row))
  }
}

type Claim = Pick<SubmissionRow, 'claimed_by' | 'claimed_until'>

async function diffOf(db: Reader, row: SubmissionRow): Promise<ManifestDiff> {
  const skill = (await rows.find(db, row.skill_id))!
  const isLive = skill.live_version_id === row.version_id
  const live = skill.live_version_id && !isLive ? await rows.version(db, skill.live_version_id) : undefined
  return diffManifests(live?.manifest ?? null, (await rows.version(db, row.version_id))!.manifest)
}
