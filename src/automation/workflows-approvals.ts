import type { OrgService } from '../accounts'
import type { Takeovers } from '../jobs'
import type { Caller, OwnerScope } from '../kernel/caller'
import { notFound } from '../kernel/errors'
import { type OrgId, UserId } from '../kernel/ids'
import type { Reader, Tx } from '../kernel/store'
import type { Resource } from '../resource'
import { notAnApprover, unknownApprover } from './errors'
import type { workflow } from './resource'
import type { RunRow, WorkflowRow } from './table'
import { runRepository as rows } from './workflows-repository'
import { type Step, WorkflowRunId } from './workflows-schema'

const RUN_KIND = 'workflow_run'
/** Duration of a hold. A run is not kept by one person: a decision holds it for one transaction. */
const HELD_MS = 60_000

type Run = Pick<RunRow, 'id' | 'owner' | 'pause'>

export type Approvals = ReturnType<typeof createApprovals>

const waits = ({ pause }: Run): boolean => pause !== null && pause.kind !== 'delay'

/** Runs that wait for a person, as chats and browser sessions do. Requests exist only then (docs/api.md 10, 15). */
export function createApprovals({ takeovers }: { takeovers: Pick<Takeovers, 'of'> }) {
  const runs = takeovers.of({ name: RUN_KIND, title: 'workflow run', silenceMs: HELD_MS, changed: async () => {} })
  const subjectOf = ({ id, owner }: Run) => ({ id, owner })
  return {
    /** Serializes callers that move a waiting run, also across processes. The caller reads the run after this. */
    async turn(tx: Tx, run: Run): Promise<void> {
      if (waits(run)) await runs.lock(tx, subjectOf(run))
    },

    /** Runs in the transaction that moves a run: withdraws the request when a wait ends, creates one when it begins. */
    async moved(tx: Tx, before: Run, now: Run): Promise<void> {
      if (waits(before)) await runs.forget(tx, [before.id])
      if (waits(now)) await runs.request(tx, subjectOf(now), { call: null, reason: now.pause?.message ?? null })
    },
  }
}

type Deps = {
  workflows: Pick<Resource<typeof workflow>, 'reachOf' | 'assertMayMake'>
  orgs: Pick<OrgService, 'standingOf'>
}

export type RunRef = { id: string; runId: string }

const orgIn = (owner: OwnerScope): OrgId | null => (owner.startsWith('org:') ? (owner.slice(4) as OrgId) : null)

/** Who sees a run, and who decides on it (docs/api.md 10). */
export function createApprovers({ workflows, orgs }: Deps) {
  return { find, assertMayRun, assertMayDecide, assertMayCancel, assertApprovers }

  async function reaches(reader: Reader, caller: Caller, owner: OwnerScope): Promise<boolean> {
    const scope = await workflows.reachOf(reader, caller)
    return scope === 'everyone' || scope.includes(owner)
  }

  /**
   * The run of a workflow that the caller reaches, or that asked the caller to approve. Also finds runs of a deleted
   * workflow. Throws 404.
   */
  async function find(reader: Reader, caller: Caller, { id, runId }: RunRef): Promise<RunRow> {
    const found = WorkflowRunId.is(runId) ? await rows.find(reader, runId) : undefined
    if (found?.workflow_id !== id) throw notFound('workflow run')
    if (!(await reaches(reader, caller, found.owner)) && !(await wasRequested(reader, found, caller))) {
      throw notFound('workflow run')
    }
    return found
  }

  /** Throws 403 when the caller's role in the workflow's organization does not permit running it. */
  async function assertMayRun(reader: Reader, caller: Caller, { owner }: Pick<WorkflowRow, 'owner'>): Promise<void> {
    if (caller.type === 'session') await workflows.assertMayMake(reader, caller, { org_id: orgIn(owner) })
  }

  /** For a waiting run. Throws 403 unless its step names the caller. Throws as `assertMayRun` if it names nobody. */
  async function assertMayDecide(reader: Reader, caller: Caller, run: RunRow): Promise<void> {
    if (caller.type === 'operator') return
    const approvers = run.pause?.approvers
    const may = approvers ? approvers.includes(caller.userId) : await reaches(reader, caller, run.owner)
    if (!may) throw notAnApprover()
    if (!approvers) await assertMayRun(reader, caller, run)
  }

  /** The owner and the approvers that the run waits for may cancel. Throws as `assertMayDecide`. */
  async function assertMayCancel(reader: Reader, caller: Caller, run: RunRow): Promise<void> {
    if (caller.type === 'operator' || run.pause?.approvers?.includes(caller.userId)) return
    if (!(await reaches(reader, caller, run.owner))) throw notAnApprover()
    await assertMayRun(reader, caller, run)
  }

  /** Throws 400 for an approver without an account here, or outside the organization that owns the steps. */
  async function assertApprovers(reader: Reader, steps: readonly Step[], owner: OwnerScope | null): Promise<void> {
    const org = owner && orgIn(owner)
    const named = steps.map(namedIn)
    const all = [...new Set(named.flat())]
    if (!all.length) return
    const state = await orgs.standingOf(reader, all, org ? [org] : [])
    for (const [at, ids] of named.entries()) {
      const nobody = ids.find((id) => !(org ? state.get(id)?.has(org) : state.has(id)))
      if (nobody) throw unknownApprover(at, nobody, org !== null)
    }
  }
}

/** The approvers that a step names. A placeholder names approvers only during a run. */
function namedIn({ type, config }: Step): UserId[] {
  const { approvers } = config
  return type === 'approval' && Array.isArray(approvers) ? approvers.filter((id): id is UserId => UserId.is(id)) : []
}

/** Whether a waiting or ended step named the caller, so that approvers see the result of a run. */
async function wasRequested(reader: Reader, run: RunRow, caller: Caller): Promise<boolean> {
  if (caller.type === 'operator') return true
  if (run.pause?.approvers?.includes(caller.userId)) return true
  const naming = run.steps.map((step) => namedIn(step).includes(caller.userId))
  return naming.includes(true) && (await rows.steps(reader, [run.id])).some(({ index }) => naming[index])
}
