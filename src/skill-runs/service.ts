import type { AuditLog } from '../audit'
import type { CompletionService } from '../completions'
import type { EventBus } from '../events'
import { type Call, keyIdOf, ownerOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { newRequestId } from '../kernel/ids'
import { microToCents } from '../kernel/money'
import type { Store, Tx } from '../kernel/store'
import { type HookDue, type SkillService, skillHookDue } from '../skills'
import { askOfSkill, type Ran } from './ask'
import { runRepository as rows } from './repository'
import { isOverLimit, startOfDay } from './rules'
import { SkillRunId } from './schema'
import type { SkillRunRow } from './table'

type Deps = {
  store: Store
  audit: AuditLog
  events: EventBus
  clock: Clock
  skills: Pick<SkillService, 'alone'>
  completions: Pick<CompletionService, 'pipeline'>
  /** Id of this process. */
  node: string
  /** Aborts when the server stops. */
  stopping: AbortSignal
  onError(name: string, error: unknown): void
}

/** Longer than any completion may take (contract 1.9), so an older run has no process any more. */
const LOST_AFTER_MS = 15 * 60_000

export type SkillRuns = ReturnType<typeof createSkillRuns>

/**
 * Runs the `hooks` prompt of a skill once when it is installed or removed, billed to the owner who did that, within
 * the limits of contract 8.1. A run starts at most once: after a crash it counts as failed and is not retried, since
 * its tools may have acted.
 */
export function createSkillRuns({ store, audit, events, clock, skills, completions, node, stopping, onError }: Deps) {
  const underway = new Set<Promise<void>>()
  events.inTransaction(skillHookDue, (tx, { data }) => begin(tx, data))
  return {
    endLost,
    /** Resolves when no run of this process is in progress. */
    settled: async (): Promise<void> => void (await Promise.all(underway)),
  }

  /**
   * Runs in the installation's transaction, after its audit row: writing that row serializes an owner's
   * installations, so concurrent ones cannot pass the limit together.
   */
  async function begin(tx: Tx, due: HookDue): Promise<void> {
    const { call, skill, cause } = due
    const [owner, now] = [ownerOf(call.caller), clock.now()]
    const isSkipped = isOverLimit(await rows.spentSince(tx, owner, startOfDay(now)))
    const row: SkillRunRow = {
      id: SkillRunId.create(),
      owner,
      user_id: call.caller.userId,
      api_key_id: keyIdOf(call.caller),
      skill_id: skill.id,
      slug: skill.slug,
      cause,
      node,
      error: null,
      cost_micro: 0,
      conversation_id: null,
      status: isSkipped ? ('skipped_cap' as const) : ('running' as const),
      created_at: now,
      completed_at: isSkipped ? now : null,
    }
    await rows.insert(tx, row)
    if (isSkipped) await note(tx, call, row)
    else tx.afterCommit(() => track(run(due, row)))
  }

  function track(work: Promise<void>): void {
    const tracked = work.catch((error) => onError('skill-runs', error)).finally(() => underway.delete(tracked))
    underway.add(tracked)
  }

  async function run({ call, skill, cause, prompt }: HookDue, row: SkillRunRow): Promise<void> {
    // The causing request has ended, so the run has its own request id and is aborted only when the server stops.
    const { caller, route } = call
    const own: Call = { caller, route, requestId: newRequestId(), signal: stopping }
    const ending = await attempt(own, { skill, cause, prompt })
    await store.write(async (tx) => {
      const ended = { ...row, ...ending, completed_at: clock.now() }
      if (await rows.end(tx, row.owner, row.id, { ...ending, completed_at: ended.completed_at }))
        await note(tx, own, ended)
    })
  }

  async function attempt(call: Call, { skill, cause, prompt }: Omit<HookDue, 'call'>): Promise<Partial<SkillRunRow>> {
    try {
      const active = await skills.alone(call, skill.id, prompt)
      if (!active) return { status: 'failed', error: 'not_found' }
      const ask = askOfSkill({ active, prompt, slug: skill.slug, cause })
      const { run, result } = await completions.pipeline.complete(call, ask)
      return endedWell(ask.present(run, result))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { status: error.kind === 'unpaid' ? 'skipped_credits' : 'failed', error: error.code }
    }
  }

  /** Fails up to `limit` lost runs. Returns how many there were. */
  function endLost(limit = 100): Promise<number> {
    return store.write(async (tx) => {
      const lost = await rows.lost(tx, { node, before: clock.now() - LOST_AFTER_MS, limit })
      for (const row of lost) {
        const ended = { ...row, status: 'failed' as const, error: 'server_error', completed_at: clock.now() }
        await rows.end(tx, row.owner, row.id, ended)
        const about = { scope: row.owner, requestId: row.id, userId: row.user_id, keyId: row.api_key_id }
        await audit.recordUnattended(tx, about, entryOf(ended))
      }
      return lost.length
    })
  }

  async function note(tx: Tx, call: Call, row: SkillRunRow): Promise<void> {
    await audit.record(tx, call, { ...entryOf(row), scope: row.owner })
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
