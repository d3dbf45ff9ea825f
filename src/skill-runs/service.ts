import type { AuditLog } from '../audit'
import type { CompletionService } from '../completions'
import type { EventBus } from '../events'
import { defineJob, type Jobs, type Outcome, type Running } from '../jobs'
import { type Call, keyIdOf, ownerOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { newRequestId } from '../kernel/ids'
import { microToCents } from '../kernel/money'
import type { Tx } from '../kernel/store'
import { type HookDue, type SkillService, skillHookDue } from '../skills'
import { type Ran, requestOfSkill } from './completion-request'
import { runRepository as rows } from './repository'
import { isOverLimit, startOfDay } from './rules'
import { SkillRunId } from './schema'
import type { SkillRunRow } from './table'

type Deps = {
  audit: AuditLog
  events: EventBus
  jobs: Pick<Jobs, 'register' | 'enqueue'>
  clock: Clock
  skills: Pick<SkillService, 'alone'>
  completions: Pick<CompletionService, 'pipeline'>
  /** Aborts when the server stops. */
  stopping: AbortSignal
}

/** The run of a hook's prompt, as a job keeps it. */
type Due = Omit<HookDue, 'call'> & { run: SkillRunRow; call: Pick<Call, 'caller' | 'route'> }

/** Longer than any completion may take (contract 1.9). */
const TIME_LIMIT_MS = 15 * 60_000

/**
 * Runs the `hooks` prompt of a skill once when it is installed or removed, billed to the owner who did that, within
 * the limits of contract 8.1. A run starts at most once: after a crash it counts as failed and is not retried, since
 * its tools may have acted.
 */
export function registerSkillRuns({ audit, events, jobs, clock, skills, completions, stopping }: Deps): void {
  const kind = defineJob<Due>({
    name: 'skills.hook',
    run,
    retry: { attempts: 1, delayMs: () => 0 },
    timeLimitMs: TIME_LIMIT_MS,
    concurrency: 8,
    keepMs: 0,
    onFailed: async (tx, { payload }) => end(tx, payload.run, { status: 'failed', error: 'server_error' }),
  })
  jobs.register(kind)
  events.inTransaction(skillHookDue, (tx, { data }) => begin(tx, data))

  /**
   * Runs in the installation's transaction, after its audit row: writing that row serializes an owner's
   * installations, so concurrent ones cannot pass the limit together.
   */
  async function begin(tx: Tx, { call, skill, cause, prompt }: HookDue): Promise<void> {
    const { caller, route } = call
    const [owner, now] = [ownerOf(caller), clock.now()]
    const isSkipped = isOverLimit(await rows.spentSince(tx, owner, startOfDay(now)))
    const row: SkillRunRow = {
      id: SkillRunId.create(),
      owner,
      user_id: caller.userId,
      api_key_id: keyIdOf(caller),
      skill_id: skill.id,
      slug: skill.slug,
      cause,
      error: null,
      cost_micro: 0,
      conversation_id: null,
      status: isSkipped ? ('skipped_cap' as const) : ('running' as const),
      created_at: now,
      completed_at: isSkipped ? now : null,
    }
    await rows.insert(tx, row)
    const due: Due = { run: row, call: { caller, route }, skill: { id: skill.id, slug: skill.slug }, cause, prompt }
    if (isSkipped) await audit.record(tx, call, { ...entryOf(row), scope: owner })
    else await jobs.enqueue(tx, kind, { owner, payload: due })
  }

  /** The causing request has ended, so the run has a request id of its own. */
  async function run(job: Running<Due>): Promise<Outcome<null>> {
    const { call, run: row, ...due } = job.payload
    const own: Call = { ...call, requestId: newRequestId(), signal: AbortSignal.any([job.signal, stopping]) }
    const ending = await attempt(own, due)
    return {
      effects: async (tx) => {
        const ended = { ...row, ...ending, completed_at: clock.now() }
        if (await rows.end(tx, row.owner, row.id, { ...ending, completed_at: ended.completed_at }))
          await audit.record(tx, own, { ...entryOf(ended), scope: row.owner })
      },
    }
  }

  async function attempt(call: Call, { skill, cause, prompt }: Omit<HookDue, 'call'>): Promise<Partial<SkillRunRow>> {
    try {
      const active = await skills.alone(call, skill.id, prompt)
      if (!active) return { status: 'failed', error: 'not_found' }
      const request = requestOfSkill({ active, prompt, slug: skill.slug, cause })
      return endedWell(await completions.pipeline.complete(call, request))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { status: error.kind === 'unpaid' ? 'skipped_credits' : 'failed', error: error.code }
    }
  }

  /** Ends a run that has no process any more. */
  async function end(tx: Tx, row: SkillRunRow, ending: Pick<SkillRunRow, 'status' | 'error'>): Promise<void> {
    const ended = { ...row, ...ending, completed_at: clock.now() }
    if (!(await rows.end(tx, row.owner, row.id, { ...ending, completed_at: ended.completed_at }))) return
    const about = { scope: row.owner, requestId: row.id, userId: row.user_id, keyId: row.api_key_id }
    await audit.recordUnattended(tx, about, entryOf(ended))
  }
}

const endedWell = ({ costMicro, conversationId }: Ran): Partial<SkillRunRow> => ({
  status: 'completed',
  cost_micro: costMicro,
  conversation_id: conversationId,
})

const STATUS_OF = { running: 202, completed: 200, failed: 500, skipped_credits: 402, skipped_cap: 402 } as const

/** The audit entry of a finished run. */
const entryOf = (row: SkillRunRow) => ({
  action: 'skill.hook_ran' as const,
  entityType: 'skill' as const,
  entityId: row.skill_id,
  input: {
    metadata: {
      slug: row.slug,
      hook: row.cause === 'install' ? 'onInstall' : 'onUninstall',
      result: row.status,
      ...(row.conversation_id ? { conversation_id: row.conversation_id } : {}),
    },
  },
  output: {
    status: STATUS_OF[row.status],
    cost_cents: microToCents(row.cost_micro),
    ...(row.error ? { error_code: row.error } : {}),
  },
})
