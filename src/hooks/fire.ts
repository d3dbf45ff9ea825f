import type { AuditLog } from '../audit'
import type { Behalf, Unattended } from '../auth'
import { type EventBus, eventRepository, type FanOut, subscribe } from '../events'
import type { EventId } from '../events/schema'
import { defineJob, type Jobs, type Outcome, type Running } from '../jobs'
import { type OwnerScope, ownerOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { newRequestId } from '../kernel/ids'
import type { Store, Tx } from '../kernel/store'
import { eventPrompt, MOST_FAILURES, type NewRun, type SkillRunRow, type SkillRuns } from '../skill-runs'
import { hookPaused } from './events'
import { hookRepository as rows } from './repository'
import type { HookId } from './schema'
import type { HookRow } from './table'

type Deps = {
  store: Store
  clock: Clock
  audit: Pick<AuditLog, 'recordUnattended'>
  events: Pick<EventBus, 'emit'>
  jobs: Pick<Jobs, 'register' | 'enqueue'>
  fanOut: Pick<FanOut, 'receive'>
  unattended: Unattended
  runs: SkillRuns
}

type Happened = { event: EventId; type: string; depth: number; hooks: HookId[] }

const MINUTE_MS = 60_000

/**
 * Fires hooks: an event leaves a job in its own commit, and the job decides for each hook, with the hook locked, whether
 * it runs (I37). What a run does to its hook is part of the commit that ends the run.
 */
export function registerFirings({ store, clock, audit, events, jobs, fanOut, unattended, runs }: Deps): void {
  const kind = defineJob<Happened, null>({
    name: 'hooks.fire',
    run: decide,
    retry: { attempts: 12, delayMs: (attempt) => Math.min(2 ** attempt, 60) * 1_000 },
    timeLimitMs: 60_000,
    concurrency: 16,
    keepMs: 0,
  })
  jobs.register(kind)
  fanOut.receive('hook', async (tx, { id, owner, type, depth }, targets) => {
    const payload: Happened = { event: id, type, depth, hooks: targets as HookId[] }
    await jobs.enqueue(tx, kind, { owner, payload })
  })
  runs.onEnd('hook', ended)

  async function decide({ payload: { event: id, type, depth, hooks } }: Running<Happened>): Promise<Outcome<null>> {
    const envelope = (await eventRepository.envelopes(store.read, [id])).get(id)
    if (envelope === undefined) return {}
    const payers = await payersOf(hooks)
    const order = (hook: HookRow): NewRun => ({
      owner: payers.get(hook.id) ?? hook.owner,
      behalf: behalfIn(hook),
      skill: { id: hook.skill_id, slug: hook.slug },
      cause: 'hook',
      prompt: eventPrompt({ id, type, envelope }, hook.config),
      source: hook.id,
      eventId: id,
      depth,
    })
    return {
      effects: async (tx) => {
        // In one order, so that two events do not wait for each other.
        for (const one of [...hooks].sort()) {
          const hook = await rows.lock(tx, one)
          if (hook?.enabled) await fire(tx, hook, order(hook))
        }
      },
    }
  }

  /** Who pays for a run of each: whoever its maker's key or account acts for now. */
  async function payersOf(ids: readonly HookId[]): Promise<Map<HookId, OwnerScope>> {
    const payers = new Map<HookId, OwnerScope>()
    for (const hook of await rows.some(store.read, ids)) {
      const caller = await unattended(behalfIn(hook))
      if (caller) payers.set(hook.id, ownerOf(caller))
    }
    return payers
  }

  async function fire(tx: Tx, hook: HookRow, order: NewRun): Promise<void> {
    const now = clock.now()
    if (hook.last_fired_at !== null && now < hook.last_fired_at + hook.cooldown_minutes * MINUTE_MS) {
      await runs.skip(tx, order, 'skipped_cooldown')
      return
    }
    const { status } = await runs.begin(tx, order)
    if (status === 'running') await rows.change(tx, hook.id, { last_fired_at: now })
  }

  /** A success resets the count of failures; so many in a row pause the hook. */
  async function ended(tx: Tx, { source, status, error }: SkillRunRow): Promise<void> {
    if (status !== 'completed' && status !== 'failed') return
    const hook = await rows.lock(tx, source as HookId)
    if (!hook) return
    const consecutive_failures = status === 'failed' ? hook.consecutive_failures + 1 : 0
    const pauses = hook.enabled && consecutive_failures >= MOST_FAILURES
    const state = pauses ? { enabled: false, disabled_reason: 'failures' as const, updated_at: clock.now() } : {}
    await rows.change(tx, hook.id, { consecutive_failures, ...state })
    if (pauses) await tellPaused(tx, { ...hook, consecutive_failures }, error)
  }

  /** On the record, and on the bus. */
  async function tellPaused(tx: Tx, hook: HookRow, error: string | null): Promise<void> {
    const { id, owner, pattern, slug, consecutive_failures } = hook
    await subscribe(tx, { owner, subscriber: 'hook', target: id }, [])
    await audit.recordUnattended(
      tx,
      { scope: owner, requestId: newRequestId() },
      { action: 'hook.paused', entityType: 'hook', entityId: id, input: { metadata: { consecutive_failures } } },
    )
    const data = { hook_id: id, event_pattern: pattern, skill_slug: slug, consecutive_failures, error }
    await events.emit(tx, hookPaused, owner, data)
  }
}

/** A hook belongs to the organization that was active when it was made. */
const behalfIn = ({ user_id, api_key_id, org_id }: HookRow): Behalf => ({ user_id, api_key_id, active_org_id: org_id })
