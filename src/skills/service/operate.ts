import type { Call, OperatorCaller } from '../../kernel/caller'
import { decodeCursor, type Page, toPage } from '../../kernel/page'
import type { Reader } from '../../kernel/store'
import { diffManifests, type ManifestDiff } from '../diff'
import { unreadDiff } from '../errors'
import { presentRecord } from '../present'
import { skillRepository as rows } from '../repository'
import { submissionRepository as submissions } from '../repository-submissions'
import type { Evidence } from '../review'
import type { OperatorDecision, OperatorSubmissionQuery } from '../schema-operator'
import type { SubmissionRecord } from '../schema-review'
import type { SubmissionRow } from '../table'
import type { createDecisions } from './decide'
import type { SkillDeps } from './deps'

export type WholeSubmission = SubmissionRecord & {
  name: string
  live_version: string | null
  findings: Evidence[]
  manifest: Record<string, unknown>
}

/** What operators do with submissions (dx 2.11). */
export function operateSkills({ store }: SkillDeps, { find, settle }: ReturnType<typeof createDecisions>) {
  return { list, get, diff, decide }

  async function list(_call: Call<OperatorCaller>, query: OperatorSubmissionQuery): Promise<Page<SubmissionRecord>> {
    const { status, tier, limit, cursor } = query
    const found = await submissions.list(store.read, { status, tier }, decodeCursor(cursor), limit + 1)
    const page = toPage(found, limit, (row) => ({ at: row.created_at, id: row.id }))
    return { ...page, items: page.items.map(presentRecord) }
  }

  /** With the manifest, what is in force now, and each finding with its line. Throws 404. */
  async function get(_call: Call<OperatorCaller>, id: string): Promise<WholeSubmission> {
    const row = await find(store.read, id)
    const skill = (await rows.find(store.read, row.skill_id))!
    const { manifest } = (await rows.version(store.read, row.version_id))!
    const live = skill.live_version_id ? await rows.version(store.read, skill.live_version_id) : undefined
    return {
      ...presentRecord(row),
      name: manifest.name,
      live_version: live?.version ?? null,
      findings: row.evidence,
      manifest,
    }
  }

  /** Against the version in force; against nothing for a new skill. Throws 404. */
  async function diff(_call: Call<OperatorCaller>, id: string): Promise<ManifestDiff> {
    return diffOf(store.read, await find(store.read, id))
  }

  /**
   * Approves, rejects, suspends or reinstates. Approving tier security needs `read_diff` to name the diff as
   * it is now. Throws 404, 409 for a move there is not and for a diff that was not read.
   */
  function decide(call: Call<OperatorCaller>, id: string, order: OperatorDecision): Promise<SubmissionRecord> {
    return settle(call, id, order, async (row) => {
      if (order.decision !== 'approve' || row.tier !== 'security' || row.status !== 'pending_review') return
      if ((await diffOf(store.read, row)).sha !== order.read_diff) throw unreadDiff()
    })
  }
}

async function diffOf(db: Reader, row: SubmissionRow): Promise<ManifestDiff> {
  const skill = (await rows.find(db, row.skill_id))!
  const isLive = skill.live_version_id === row.version_id
  const live = skill.live_version_id && !isLive ? await rows.version(db, skill.live_version_id) : undefined
  return diffManifests(live?.manifest ?? null, (await rows.version(db, row.version_id))!.manifest)
}
