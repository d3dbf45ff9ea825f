import type { Call, OperatorCaller } from '../../kernel/caller'
import { iso } from '../../kernel/clock'
import { mapPage, type Page } from '../../kernel/page'
import type { Reader } from '../../kernel/store'
import { diffManifests, type ManifestDiff } from '../diff'
import { claimedByOther, notClaimed, unreadDiff } from '../errors'
import { presentOperated } from '../present'
import { skillRepository as rows } from '../repository'
import { submissionRepository as submissions } from '../repository-submissions'
import { engineDoubtsIn, examineInTurns } from '../review'
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

/** Duration of a claim (dx 2.11). Claims are advisory: other reviewers see them but can still decide. */
const CLAIM_MS = 30 * 60_000

type By = Call<OperatorCaller>

/** Operators' actions on submissions (dx 2.11). */
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

  /** One submission with its manifest, the live version, the reasons for its tier and all findings. */
  async function get(_call: By, id: string): Promise<OperatorSubmission> {
    const row = await find(store.read, id)
    const skill = (await rows.find(store.read, row.skill_id))!
    const { manifest } = (await rows.version(store.read, row.version_id))!
    const live = skill.live_version_id ? await rows.version(store.read, skill.live_version_id) : undefined
    return {
      ...shown(row),
      name: manifest.name,
      live_version: live?.version ?? null,
      installed_by: skill.install_count,
      tier_reasons: [...(await examineInTurns(manifest)).reasons, ...engineDoubtsIn(row.evidence)],
      findings: row.evidence,
      manifest,
    }
  }

  /** The results of the checks at submission, or with `rerun` those of today's checks. */
  async function checks(_call: By, id: string, rerun: boolean): Promise<OperatorChecks> {
    const row = await find(store.read, id)
    if (!rerun) return { tier: row.tier, checks: row.checks, findings: row.evidence, rerun }
    const { manifest } = (await rows.version(store.read, row.version_id))!
    const { tier, checks: now, evidence } = await examineInTurns(manifest)
    return { tier, checks: now, findings: evidence, rerun }
  }

  /** The diff against the live version; everything is new for a new skill. */
  async function diff(_call: By, id: string): Promise<ManifestDiff> {
    return diffOf(store.read, await find(store.read, id))
  }

  /** Claims a submission for half an hour, or renews the claim. Throws 409 while another operator holds it. */
  function claim(call: By, id: string): Promise<OperatorRecord> {
    return mark(call, id, { claimed_by: call.caller.name, claimed_until: clock.now() + CLAIM_MS }, 'skill.claimed')
  }

  /** Releases the caller's claim. Throws 409 when the caller holds none. */
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
   * Approves, rejects, suspends or reinstates. Approving tier security requires `read_diff`, the sha of the current
   * diff. Throws 409 for an impossible state change or an unread diff.
   */
  async function decide(call: By, id: string, order: OperatorDecision): Promise<OperatorRecord> {
    await settle(call, id, order, async (row) => {
      if (order.decision !== 'approve' || row.tier !== 'security' || row.status !== 'pending_review') return
      if ((await diffOf(store.read, row)).sha !== order.read_diff) throw unreadDiff()
    })
    return shown(await find(store.read, id))
  }

  /** Statistics per tier: waiting, oldest, and decided submissions. */
  async function stats(_call: By): Promise<SubmissionStats> {
    return statsOf(await submissions.counts(store.read), clock.now())
  }

  /** The operator whose claim is valid now. */
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
