import { actingIdentityOf } from '../accounts'
import type { AuditLog } from '../audit'
import { type FanOut, subscribe } from '../events'
import { storeAnswer } from '../idempotency'
import { type Jobs, recurring } from '../jobs'
import { type Call, type Caller, type OwnerScope, ownerOf } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import type { Values } from '../kernel/config'
import { mapPage, pageFields } from '../kernel/page'
import { readMoment } from '../kernel/range'
import type { Reader, Store, Tx } from '../kernel/store'
import { createResource, type ResourceDeps } from '../resource'
import { ExpressionFault, evaluate, isTrue, parseExpression } from '../text'
import type { workflowSettings } from './config'
import { automationErrors } from './errors'
import { workflow } from './resource'
import type { RunRow, WorkflowRow } from './table'
import { createApprovals, createApprovers, type RunRef } from './workflows-approvals'
import { createFromCanvas } from './workflows-canvas'
import { createOutcomes, RunMoved, registerRuns } from './workflows-executor'
import { pageOfRuns, presentRun, runRepository as rows, STORED_MS, WAIT_MS } from './workflows-repository'
import { assertSteps, assertTrigger, nextOf, storedStep } from './workflows-review'
import type {
  NewRun,
  NewWorkflow,
  RunQuery,
  RunReply,
  Verdict,
  WorkflowId,
  WorkflowQuery,
  WorkflowRunId,
} from './workflows-schema'
import {
  createSchedules,
  createStart,
  createStartAll,
  identityOfWorkflow,
  type ScheduleDeps,
  type StartRun,
} from './workflows-start'
import { createSteps, type StepDeps } from './workflows-steps'

type TriggersDeps = ScheduleDeps & { fanOut: Pick<FanOut, 'receive'>; start: StartRun }

const LOOK_EVERY_MS = 500

type Deps = StepDeps & {
  orgs: Parameters<typeof createApprovers>[0]['orgs']
  takeovers: Parameters<typeof createApprovals>[0]['takeovers']
  resources: ResourceDeps
  audit: AuditLog
  canvases: Parameters<typeof createFromCanvas>[0]['canvases']
  jobs: Jobs
  unattended: Parameters<typeof registerRuns>[0]['unattended']
  fanOut: Parameters<typeof createTriggers>[0]['fanOut'] & StepDeps['fanOut']
  events: Parameters<typeof createOutcomes>[0]['events']
  zoneOf: Parameters<typeof createTriggers>[0]['zoneOf']
  onError: Parameters<typeof createTriggers>[0]['onError']
  workflowSettings: Values<typeof workflowSettings>
}

export type WorkflowService = ReturnType<typeof createWorkflows>

const TIDY_EVERY_MS = 600_000

/** Workflows and their runs (docs/api.md 10). */
export function createWorkflows(deps: Deps) {
  const { store, clock, jobs, audit, outbound, resources } = deps
  const approvals = createApprovals(deps)
  const outcomes = createOutcomes({ ...deps, approvals })
  const waiting = createWaiting(deps)
  const start = createStart({ clock, outcomes })
  const triggers = createTriggers({ ...deps, start, startAll: createStartAll({ clock, outcomes }) })
  const resource = createResource(resources, workflow, {
    max: deps.workflowSettings.maxWorkflows,
    read,
    changed: (tx, { verb, row }) => triggers.changed(tx, row, verb !== 'deleted'),
  })
  const workflows = { ...resource, list: listWorkflows }
  const approvers = createApprovers({ ...deps, workflows })
  const { find } = approvers
  registerRuns({ ...deps, outcomes, approvals, steps: createSteps(deps), onRest: waiting.rested })
  jobs.register(recurring('workflows.tidy', TIDY_EVERY_MS, tidy))
  const fromCanvas = createFromCanvas({ ...deps, workflows, read })
  return { workflows, fromCanvas, run, listRuns, getRun, approve: verdict(true), reject: verdict(false), cancel }

  /** Validates a new workflow, or the result of applying a patch. */
  async function read(sent: NewWorkflow, { caller }: Call<Caller>, before: WorkflowRow | null) {
    const { name, triggerType, triggerConfig, steps, enabled } = sent
    if (!before) {
      const missing = Object.entries({ name: name?.trim() || undefined, triggerType, steps }).filter(
        ([, value]) => value === undefined,
      )
      if (missing.length || !steps?.length)
        throw automationErrors.missingFields(missing.length ? missing.map(([member]) => member) : ['steps'])
    }
    if (steps) {
      assertSteps(steps, outbound)
      const owner = before?.owner ?? (caller.type === 'operator' ? null : ownerOf(caller))
      await approvers.assertApprovers(store.read, steps, owner)
    }
    if (triggerType || triggerConfig || !before) {
      assertTrigger(triggerType ?? before!.trigger_type, triggerConfig ?? before?.trigger_config ?? {})
    }
    const reschedules = !before || triggerType || triggerConfig || enabled !== undefined
    const columns = {
      name,
      trigger_type: triggerType,
      trigger_config: triggerConfig,
      steps: steps?.map(storedStep),
      enabled,
      next_run_at: reschedules ? await nextIn(sent, caller, before) : undefined,
    }
    if (before || caller.type === 'operator') return columns
    const { api_key_id, active_org_id } = actingIdentityOf(caller)
    return { ...columns, api_key_id, active_org_id }
  }

  async function nextIn(sent: NewWorkflow, caller: Caller, before: WorkflowRow | null): Promise<number | null> {
    const type = sent.triggerType ?? before!.trigger_type
    if (type !== 'schedule' || !(sent.enabled ?? before?.enabled ?? true)) return null
    const maker = before?.user_id ?? (caller.type === 'operator' ? null : caller.userId)
    const zone = maker === null ? 'UTC' : await deps.zoneOf(store.read, maker)
    return nextOf(type, sent.triggerConfig ?? before!.trigger_config, { zone, after: clock.now() })
  }

  /**
   * Begins a run and waits until it ends or pauses, at most 25 s. A caller's run acts as the caller, an operator's as
   * the account that created the workflow. Throws 404, 409 when the workflow is disabled.
   */
  async function run(
    call: Call<Caller>,
    id: string,
    { triggerData = {}, stepwise = false }: NewRun,
  ): Promise<RunReply> {
    const found = await workflows.find(store.read, call.caller, id)
    await approvers.assertMayRun(store.read, call.caller, found)
    if (!found.enabled) throw automationErrors.isDisabled(found.name)
    const once = call.once?.id ?? null
    const input = {
      trigger: 'manual',
      data: triggerData,
      behalf: call.caller.type === 'operator' ? identityOfWorkflow(found) : actingIdentityOf(call.caller),
      depth: call.depth ?? 0,
      once,
      stepwise,
    } as const
    const begun =
      (once === null ? undefined : await rows.byOnce(store.read, found.owner, once)) ??
      (await store.write((tx) => start(tx, found, input))) ??
      (await rows.byOnce(store.read, found.owner, once!))!
    const rested = await waiting.untilRest(begun, { maxMs: WAIT_MS, signal: call.signal })
    const reply = await replyOf(store.read, rested)
    return call.once ? store.write(async (tx) => answerTo(tx, call, reply)) : reply
  }

  async function listWorkflows(
    call: Call<Caller>,
    query: WorkflowQuery,
    filter?: Parameters<typeof resource.list>[2],
  ): ReturnType<typeof resource.list> {
    const page = await resource.list(call, query, filter)
    const from = readMoment('failedFrom', query.failedFrom)
    if (from === null) return page
    const failed = await rows.failedSince(
      store.read,
      page.items.map(({ id }) => id as WorkflowId),
      from,
    )
    return mapPage(page, (it) => ({ ...it, failedRuns: failed.get(it.id as WorkflowId) ?? 0 }))
  }

  async function listRuns({ caller }: Call<Caller>, id: string, query: RunQuery) {
    const found = await workflows.find(store.read, caller, id)
    const page = await pageOfRuns(store.read, found.id, query)
    return { runs: page.items.map(({ run, steps }) => presentRun(run, steps)), ...pageFields(page) }
  }

  async function getRun({ caller }: Call<Caller>, which: RunRef): Promise<RunReply> {
    return replyOf(store.read, await find(store.read, caller, which))
  }

  function verdict(approved: boolean) {
    return (call: Call<Caller>, which: RunRef, { comment }: Verdict): Promise<RunReply> =>
      deciding(async (tx) => {
        const { caller } = call
        await approvals.turn(tx, await find(tx, caller, which))
        const found = await find(tx, caller, which)
        if (found.status !== 'paused') throw automationErrors.notPaused(found.status)
        const { kind, until } = found.pause!
        if (kind === 'delay') throw automationErrors.waitsForTime(iso(until))
        await approvers.assertMayDecide(tx, caller, found)
        const by = caller.type === 'operator' ? null : caller.userId
        const step = (await rows.steps(tx, [found.id])).at(-1)!
        const output = { approved, by, comment: comment ?? null }
        const error = approved ? null : `rejected${comment ? `: ${comment}` : ''}`
        // A stepwise run continues, or ends at its current step.
        const moved =
          kind !== 'step'
            ? await outcomes.stepEnded(tx, found, step, { output, error })
            : error === null
              ? await outcomes.moveTo(tx, found, { status: 'running', pause: null })
              : await outcomes.end(tx, found, { status: 'failed', error })
        if (moved.status === 'running') {
          // The new turn disables the job that waits for the timeout.
          const next = await rows.advance(tx, moved, { turn: moved.turn + 1 })
          if (next) await outcomes.goOn(tx, next)
        }
        const metadata = { run_id: found.id, step: step.name }
        const action = approved ? 'workflow.approved' : 'workflow.rejected'
        await audit.record(tx, call, {
          action,
          entityType: 'workflow',
          entityId: found.workflow_id,
          scope: found.owner,
          input: { metadata },
        })
        return answerTo(tx, call, await replyOf(tx, moved))
      })
  }

  /** Retries when the run moved on meanwhile, because a timeout passed or a step ended. */
  async function deciding<T>(unit: (tx: Tx) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await store.write(unit)
      } catch (error) {
        if (!(error instanceof RunMoved)) throw error
      }
    }
  }

  function cancel(call: Call<Caller>, which: RunRef): Promise<RunReply> {
    return deciding(async (tx) => {
      await approvals.turn(tx, await find(tx, call.caller, which))
      const found = await find(tx, call.caller, which)
      if (found.completed_at !== null) throw automationErrors.hasEnded(found.status)
      await approvers.assertMayCancel(tx, call.caller, found)
      const ended = await outcomes.end(tx, found, { status: 'failed', error: 'cancelled', turn: found.turn + 1 })
      const about = { entityType: 'workflow' as const, entityId: found.workflow_id, scope: found.owner }
      await audit.record(tx, call, {
        action: 'workflow.cancelled',
        ...about,
        input: { metadata: { run_id: found.id } },
      })
      tx.afterCommit(() => waiting.rested(ended))
      return answerTo(tx, call, await replyOf(tx, ended))
    })
  }

  async function replyOf(reader: Reader, run: RunRow): Promise<RunReply> {
    return { run: presentRun(run, await rows.steps(reader, [run.id])) }
  }

  async function tidy(): Promise<void> {
    const before = clock.now() - STORED_MS
    await rows.removeOld(store, before)
  }
}

const answerTo = <Answer extends object>(tx: Tx, call: Call<Caller>, answer: Answer): Answer | Promise<Answer> =>
  call.caller.type === 'operator' ? answer : storeAnswer(tx, call as Call, answer)

/** Waits for runs to end or to pause. Polls the rows to detect runs on other nodes. */
function createWaiting({ store, clock }: { store: Store; clock: Clock }) {
  const waiting = new Map<WorkflowRunId, Set<() => void>>()
  return {
    /** Call this when this process has paused or ended a run. */
    rested: ({ id }: RunRow): void => {
      for (const wake of waiting.get(id) ?? []) wake()
    },

    /**
     * The run once it ends or pauses, or its current state when the time is up or the caller disconnected. A delay that
     * ends within the time does not count as a pause, because docs/api.md 10 reports `paused` for long delays only.
     */
    async untilRest(run: RunRow, { maxMs, signal }: { maxMs: number; signal: AbortSignal }): Promise<RunRow> {
      const end = clock.monotonic() + maxMs
      for (let row = run; ; row = (await rows.find(store.read, run.id)) ?? row) {
        const leftMs = end - clock.monotonic()
        const goesOn =
          row.status === 'running' ||
          (row.status === 'paused' && row.pause?.kind === 'delay' && row.pause.until < clock.now() + leftMs)
        if (!goesOn || leftMs <= 0 || signal.aborted) return row
        await nap(run.id, Math.min(LOOK_EVERY_MS, leftMs))
      }
    },
  }

  async function nap(id: WorkflowRunId, ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const all = waiting.get(id) ?? new Set()
    waiting.set(id, all.add(resolve))
    const cancel = clock.after(ms, resolve)
    try {
      await promise
    } finally {
      cancel()
      all.delete(resolve)
      if (!all.size) waiting.delete(id)
    }
  }
}

/** Starts runs automatically: by schedule, and by event subscription. */
function createTriggers({ fanOut, start, ...deps }: TriggersDeps) {
  const schedules = createSchedules(deps)
  fanOut.receive('workflow', async (tx, event, targets) => {
    for (const target of targets) await happened(tx, event, target as WorkflowId)
  })
  return { changed }

  /** Updates the event subscription and the schedule of a changed workflow. */
  async function changed(tx: Tx, workflow: WorkflowRow, isThere: boolean): Promise<void> {
    const { owner, id, trigger_type: type, trigger_config: config } = workflow
    const isOn = isThere && workflow.enabled
    const patterns = isOn && type === 'event' ? [config.eventPattern as string] : []
    await subscribe(tx, { owner, subscriber: 'workflow', target: id }, patterns)
    if (isOn && workflow.next_run_at !== null) await schedules.follow(tx, workflow.next_run_at)
  }

  async function happened(
    tx: Tx,
    event: { id: string; type: string; owner: OwnerScope; envelope: string; depth: number },
    id: WorkflowId,
  ): Promise<void> {
    const workflow = await rows.workflow(tx, event.owner, id)
    if (!workflow?.enabled || workflow.trigger_type !== 'event') return
    const { data, created } = JSON.parse(event.envelope) as { data: unknown; created: string }
    const trigger = { eventId: event.id, eventType: event.type, payload: data, timestamp: created }
    const verdict = verdictOf(workflow.trigger_config.filter, trigger)
    if (verdict === false) return
    const failed = verdict === true ? {} : { failed: `The trigger's filter failed: ${verdict.fault}.` }
    const behalf = identityOfWorkflow(workflow)
    await start(tx, workflow, { trigger: 'event', data: trigger, behalf, depth: event.depth, ...failed })
  }
}

/** Whether an event passes the filter. Returns the error message if evaluating the filter fails. */
function verdictOf(filter: unknown, trigger: object): boolean | { fault: string } {
  if (typeof filter !== 'string') return true
  try {
    return isTrue(evaluate(parseExpression(filter), { trigger }))
  } catch (error) {
    if (error instanceof ExpressionFault) return { fault: error.message }
    throw error
  }
}
