import type { Call, OperatorCaller } from '../../kernel/caller'
import { iso } from '../../kernel/clock'
import { sha256Hex } from '../../kernel/crypto'
import { mapPage, type Page } from '../../kernel/page'
import type { Reader } from '../../kernel/store'
import { clean } from '../../kernel/text'
import { scanForInjection } from '../../text'
import { claimedByOther, notClaimed, unreadDiff } from '../errors'
import type { SkillManifest } from '../manifest'
import { presentOperated } from '../present'
import { type Counted, skillRepository as rows, submissionRepository as submissions } from '../repository'
import { engineDoubtsIn, examineInTurns } from '../review'
import type {
  OperatorChecks,
  OperatorDecision,
  OperatorDiff,
  OperatorRecord,
  OperatorSubmission,
  OperatorSubmissionQuery,
  SubmissionStats,
} from '../schema-operator'
import { REVIEW_TIERS, type Tier } from '../schema-skill'
import type { SubmissionRow } from '../table'
import { findSubmission as find, settle } from './decide'
import type { SkillDeps } from './deps'

/** `number` counts in the new text, or in the old one for removed lines; `suspicious` ones the injection scan marked. */
type DiffLine = OperatorDiff['parts'][number]['lines'][number]

/** Unchanged lines shown before and after each change. */
const CONTEXT = 2

/** Maximum size of the comparison table. For larger texts only the common start and end are matched, in linear time. */
const MAX_CELLS = 4_000_000

const pretty = (value: unknown): string => JSON.stringify(value, null, 2) ?? ''

type Step = { sign: DiffLine['sign']; at: number }

/** Duration of a claim (docs/operating.md 2.11). Claims are advisory: other reviewers see them but can still decide. */
const CLAIM_MS = 30 * 60_000

type By = Call<OperatorCaller>

/** Operators' actions on submissions (docs/operating.md 2.11). */
export function operateSkills(deps: SkillDeps) {
  const { store, clock, audit } = deps
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

  /** The results of the checks at submission, or with `rerun` the results of the current checks. */
  async function checks(_call: By, id: string, rerun: boolean): Promise<OperatorChecks> {
    const row = await find(store.read, id)
    if (!rerun) return { tier: row.tier, checks: row.checks, findings: row.evidence, rerun }
    const { manifest } = (await rows.version(store.read, row.version_id))!
    const { tier, checks: now, evidence } = await examineInTurns(manifest)
    return { tier, checks: now, findings: evidence, rerun }
  }

  /** The diff against the live version. For a new skill, all lines are added. */
  async function diff(_call: By, id: string): Promise<OperatorDiff> {
    return diffOf(store.read, await find(store.read, id))
  }

  /** Claims a submission for half an hour, or renews the claim. Throws 409 while another operator holds it. */
  function claim(call: By, id: string): Promise<OperatorRecord> {
    return mark(call, id, { claimed_by: call.caller.name, claimed_until: clock.now() + CLAIM_MS }, 'skill.claimed')
  }

  /** Releases the caller's claim. Throws 409 when the caller has no claim. */
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
  async function decide(call: By, id: string, input: OperatorDecision): Promise<OperatorRecord> {
    await settle(deps, call, id, input, async (row) => {
      if (input.decision !== 'approve' || row.tier !== 'security' || row.status !== 'pending_review') return
      if ((await diffOf(store.read, row)).sha !== input.read_diff) throw unreadDiff()
    })
    return shown(await find(store.read, id))
  }

  /** Statistics per tier: number and age of pending submissions, number and speed of decisions. */
  async function stats(_call: By): Promise<SubmissionStats> {
    const counted = await submissions.counts(store.read)
    return { tiers: REVIEW_TIERS.map((tier) => ofTier(counted, tier, clock.now())) }
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

async function diffOf(db: Reader, row: SubmissionRow): Promise<OperatorDiff> {
  const skill = (await rows.find(db, row.skill_id))!
  const isLive = skill.live_version_id === row.version_id
  const live = skill.live_version_id && !isLive ? await rows.version(db, skill.live_version_id) : undefined
  return diffManifests(live?.manifest ?? null, (await rows.version(db, row.version_id))!.manifest)
}

function ofTier(counted: readonly Counted[], tier: Tier, now: number): SubmissionStats['tiers'][number] {
  const mine = counted.filter((one) => one.tier === tier)
  const sum = (of: (one: Counted) => boolean) => mine.filter(of).reduce((total, { count }) => total + count, 0)
  const waiting = mine.filter(({ status }) => status === 'pending_review')
  const byPeople = mine.filter(({ status, auto }) => !auto && (status === 'approved' || status === 'rejected'))
  const decided = byPeople.reduce((total, { count }) => total + count, 0)
  const oldest = Math.min(...waiting.map((one) => one.oldest))
  return {
    tier,
    waiting: sum(({ status }) => status === 'pending_review'),
    approved: sum(({ status, auto }) => status === 'approved' && !auto),
    auto_approved: sum(({ status, auto }) => status === 'approved' && auto),
    rejected: sum(({ status }) => status === 'rejected'),
    withdrawn: sum(({ status }) => status === 'withdrawn'),
    suspended: sum(({ status }) => status === 'suspended'),
    oldest_waiting_s: waiting.length ? Math.max(0, Math.round((now - oldest) / 1000)) : null,
    decided_in_s: decided
      ? Math.round(byPeople.reduce((total, { tookMs }) => total + tookMs, 0) / decided / 1000)
      : null,
  }
}

/** The changes of a version against the live one (null for a new skill), per member. `sha` identifies this diff. */
function diffManifests(before: SkillManifest | null, after: SkillManifest): OperatorDiff {
  const [old, next] = [before ? textsOf(before) : new Map<string, string>(), textsOf(after)]
  const parts = [...new Set([...next.keys(), ...old.keys()])].flatMap((path) => {
    const lines = diffLines(old.get(path) ?? '', next.get(path) ?? '')
    return lines.some(({ sign }) => sign !== ' ') ? [{ path, lines: nearChanges(lines) }] : []
  })
  const count = (sign: '+' | '-') =>
    parts.reduce((sum, { lines }) => sum + lines.filter((line) => line.sign === sign).length, 0)
  return {
    parts,
    added: count('+'),
    removed: count('-'),
    sha: sha256Hex(JSON.stringify([...next, ...old])).slice(0, 16),
  }
}

/** A manifest as texts by path: strings unchanged, other members as JSON. */
function textsOf({ tools, knowledgeFiles, ...rest }: SkillManifest): Map<string, string> {
  const texts = new Map<string, string>()
  for (const [name, value] of Object.entries(rest)) texts.set(name, typeof value === 'string' ? value : pretty(value))
  for (const tool of tools) texts.set(`tools.${tool.name}`, pretty(tool))
  for (const [path, text] of Object.entries(knowledgeFiles)) texts.set(`knowledgeFiles.${path}`, text)
  return texts
}

function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [before ? before.split('\n') : [], after ? after.split('\n') : []]
  const marked = new Set(scanForInjection(after).map(({ line }) => line))
  const line = (sign: DiffLine['sign'], at: number, text: string): DiffLine => ({
    sign,
    number: at + 1,
    text: clean(text),
    suspicious: sign !== '-' && marked.has(at + 1),
  })
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const middle = compare(a.slice(start, a.length - end), b.slice(start, b.length - end))
  return [
    ...b.slice(0, start).map((text, at) => line(' ', at, text)),
    ...middle.map(({ sign, at }) => line(sign, at + start, (sign === '-' ? a : b)[at + start]!)),
    ...b.slice(b.length - end).map((text, at) => line(' ', b.length - end + at, text)),
  ]
}

/** Compares by the longest common subsequence of lines. */
function compare(a: readonly string[], b: readonly string[]): Step[] {
  const all = (sign: '-' | '+', lines: readonly string[]): Step[] => lines.map((_, at) => ({ sign, at }))
  if (a.length * b.length > MAX_CELLS) return [...all('-', a), ...all('+', b)]
  const width = b.length + 1
  const longest = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] =
        a[i] === b[j]
          ? longest[(i + 1) * width + j + 1]! + 1
          : Math.max(longest[(i + 1) * width + j]!, longest[i * width + j + 1]!)
    }
  }
  const steps: Step[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      steps.push({ sign: ' ', at: j })
      i++
      j++
    } else if (longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!) steps.push({ sign: '-', at: i++ })
    else steps.push({ sign: '+', at: j++ })
  }
  while (i < a.length) steps.push({ sign: '-', at: i++ })
  while (j < b.length) steps.push({ sign: '+', at: j++ })
  return steps
}

function nearChanges(lines: readonly DiffLine[]): DiffLine[] {
  const changed = lines.flatMap(({ sign }, at) => (sign === ' ' ? [] : [at]))
  const near = new Set(
    changed.flatMap((at) => Array.from({ length: CONTEXT * 2 + 1 }, (_, step) => at + step - CONTEXT)),
  )
  return lines.filter((_, at) => near.has(at))
}
