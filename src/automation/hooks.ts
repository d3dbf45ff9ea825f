import type { ActingIdentity, BackgroundCallers } from '../accounts'
import type { AuditLog } from '../audit'
import { type EventBus, eventRepository, type FanOut, subscribe } from '../events'
import { type EventId, isEventPattern } from '../events/schema'
import { defineJob, type Jobs, type Outcome, type Running } from '../jobs'
import { type Call, type Caller, keyIdOf, type OwnerScope, ownerOf } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import type { Values } from '../kernel/config'
import { newRequestId } from '../kernel/ids'
import { microToCents } from '../kernel/money'
import { pageFields } from '../kernel/page'
import { rowsOf } from '../kernel/rows'
import type { Store, Tx } from '../kernel/store'
import { createResource, type OwnerFilter, type ResourceDeps } from '../resource'
import type { SkillService } from '../skills'
import type { hookSettings } from './config'
import { configTooLarge, noSkillNamed, oneOfTwo, unknownPreset, unknownSkill, wrongPattern } from './errors'
import { hookPaused } from './events'
import { hook } from './resource'
import type { HookExecution, HookHistory, HookId, HookPatch, HookPreset, HookQuery, NewHook } from './schema'
import { MAX_FAILURES, type NewRun, type SkillRuns } from './skill-runs'
import { eventPrompt } from './skill-runs-triggers'
import { type HookRow, hooks, type SkillRunRow } from './table'

/** Hooks that an event has named. A firing locks its hook, so that one event counts a cooldown (docs/promises.md I37). */
const hookRows = rowsOf(hooks)

type FireDeps = {
  store: Store
  clock: Clock
  audit: Pick<AuditLog, 'recordUnattended'>
  events: Pick<EventBus, 'emit'>
  jobs: Pick<Jobs, 'register' | 'enqueue'>
  fanOut: Pick<FanOut, 'receive'>
  unattended: BackgroundCallers
  runs: SkillRuns
}

type Happened = { event: EventId; type: string; depth: number; hooks: HookId[] }

const MINUTE_MS = 60_000

/** A hook acts for the organization that was active when it was created. */
const actingIdentityOf = ({ user_id, api_key_id, org_id }: HookRow): ActingIdentity => ({
  user_id,
  api_key_id,
  active_org_id: org_id,
})

/** Hooks that are ready to install (docs/api.md 11.1). */
const PRESETS: readonly HookPreset[] = [
  {
    id: 'share.accepted.welcome',
    event_pattern: 'share.accepted',
    default_skill: 'email-drafter',
    description: 'Drafts a welcome message when someone accepts a share.',
  },
  {
    id: 'task.overdue.summary',
    event_pattern: 'task.overdue',
    default_skill: 'todo-manager',
    description: 'Summarizes what is overdue.',
  },
  {
    id: 'project.created.suggestions',
    event_pattern: 'project.created',
    default_skill: 'document-analyzer',
    description: 'Suggests the next steps of a new project.',
  },
  {
    id: 'team.member_joined.onboarding',
    event_pattern: 'team.member_joined',
    default_skill: 'email-drafter',
    description: 'Drafts an introduction for a new member.',
  },
  {
    id: 'document.analyzed.followup',
    event_pattern: 'document.analyzed',
    default_skill: 'document-analyzer',
    description: 'Lists the tasks that follow from an analyzed document.',
  },
]

type Deps = Omit<Parameters<typeof registerFirings>[0], 'store' | 'clock'> & {
  resources: ResourceDeps
  skills: Pick<SkillService, 'runnable'>
  runs: SkillRuns
  settings: Values<typeof hookSettings>
}

export type HookService = ReturnType<typeof createHooks>

const MAX_CONFIG_KB = 16

/** Hooks: skills that run when an event occurs (docs/api.md 11.1). */
export function createHooks({ resources, skills, runs, settings, ...modules }: Deps) {
  const { store, clock } = resources
  const hooks = createResource(resources, hook, {
    max: settings.maxHooks,
    read: async (sent, call, before) => (before ? readPatch(sent) : readNew(sent, call)),
    changed: (tx, { verb, row }) => {
      const patterns = verb !== 'deleted' && row.enabled ? [row.pattern] : []
      return subscribe(tx, { owner: row.owner, subscriber: 'hook', target: row.id }, patterns)
    },
    answer: (_, { verb }) => (verb === 'updated' ? { updated: true } : {}),
  })
  registerFirings({ ...modules, runs, store, clock })
  return { hooks, list, history }

  async function readNew(input: NewHook, { caller }: Call<Caller>) {
    const { hook_preset_id, event_pattern, skill_slug, cooldown_minutes, name, config } = input
    if ((hook_preset_id === undefined) === (event_pattern === undefined)) throw oneOfTwo()
    const preset = PRESETS.find(({ id }) => id === hook_preset_id)
    if (hook_preset_id !== undefined && !preset) throw unknownPreset(hook_preset_id)
    const pattern = preset?.event_pattern ?? event_pattern!
    if (!isEventPattern(pattern)) throw wrongPattern(pattern)
    const slug = skill_slug ?? preset?.default_skill
    if (slug === undefined) throw noSkillNamed()
    const skill = await skills.runnable(caller, slug)
    if (!skill) throw unknownSkill(slug)
    assertSize(config)
    return {
      name,
      api_key_id: caller.type === 'operator' ? null : keyIdOf(caller),
      preset: preset?.id ?? null,
      pattern,
      skill_id: skill.id,
      slug: skill.slug,
      cooldown_minutes,
      config,
    }
  }

  function readPatch({ enabled, cooldown_minutes, name, config }: HookPatch) {
    assertSize(config)
    return {
      name,
      enabled,
      cooldown_minutes,
      config,
      ...(enabled ? { consecutive_failures: 0, disabled_reason: null } : {}),
    }
  }

  /** Includes the presets for every caller. */
  async function list(call: Call<Caller>, query: HookQuery, ownerFilter: OwnerFilter) {
    const page = await hooks.list(call, query, ownerFilter)
    return { hooks: page.items, presets: [...PRESETS], ...pageFields(page) }
  }

  /** A hook and its executions, newest first. */
  async function history({ caller }: Call<Caller>, id: string, query: HookQuery): Promise<HookHistory> {
    const found = await hooks.find(store.read, caller, id)
    const page = await runs.list(store.read, found.id, query)
    return { hook: hook.present(found), executions: page.items.map(presentRun), ...pageFields(page) }
  }
}

const assertSize = (config: object | undefined): void => {
  if (config && Buffer.byteLength(JSON.stringify(config)) > MAX_CONFIG_KB * 1024) throw configTooLarge(MAX_CONFIG_KB)
}

const presentRun = (run: SkillRunRow): HookExecution => ({
  id: run.id,
  hookId: run.source as HookId,
  status: run.status,
  ...(run.event_id === null ? {} : { eventId: run.event_id }),
  ...(run.error === null ? {} : { error: run.error }),
  output: run.output,
  costCents: microToCents(run.cost_micro),
  createdAt: iso(run.created_at),
  ...(run.completed_at === null ? {} : { completedAt: iso(run.completed_at) }),
})

/**
 * Fires hooks. An event enqueues a job in its own commit. The job locks each hook and decides whether it runs
 * (docs/promises.md I37). The effect of a run on its hook is part of the commit that ends the run.
 */
function registerFirings({ store, clock, audit, events, jobs, fanOut, unattended, runs }: FireDeps): void {
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
      behalf: actingIdentityOf(hook),
      skill: { id: hook.skill_id, slug: hook.slug },
      cause: 'hook',
      prompt: eventPrompt({ id, type, envelope }, hook.config),
      source: hook.id,
      eventId: id,
      depth,
    })
    return {
      effects: async (tx) => {
        // Sorted, so that two events do not deadlock.
        for (const one of [...hooks].sort()) {
          const hook = await hookRows.lock(tx, { id: one })
          if (hook?.enabled) await fire(tx, hook, order(hook))
        }
      },
    }
  }

  /** The owner who pays for a run of each hook: the owner that its creator's key or account acts for now. */
  async function payersOf(ids: readonly HookId[]): Promise<Map<HookId, OwnerScope>> {
    const payers = new Map<HookId, OwnerScope>()
    for (const hook of await hookRows.all(store.read, { id: ids })) {
      const caller = await unattended(actingIdentityOf(hook))
      if (caller) payers.set(hook.id, ownerOf(caller))
    }
    return payers
  }

  async function fire(tx: Tx, hook: HookRow, input: NewRun): Promise<void> {
    const now = clock.now()
    if (hook.last_fired_at !== null && now < hook.last_fired_at + hook.cooldown_minutes * MINUTE_MS) {
      await runs.skip(tx, input, 'skipped_cooldown')
      return
    }
    const { status } = await runs.begin(tx, input)
    if (status === 'running') await hookRows.update(tx, { id: hook.id }, { last_fired_at: now })
  }

  /** A success resets the failure count. `MAX_FAILURES` consecutive failures pause the hook. */
  async function ended(tx: Tx, { source, status, error }: SkillRunRow): Promise<void> {
    if (status !== 'completed' && status !== 'failed') return
    const hook = await hookRows.lock(tx, { id: source as HookId })
    if (!hook) return
    const consecutive_failures = status === 'failed' ? hook.consecutive_failures + 1 : 0
    const pauses = hook.enabled && consecutive_failures >= MAX_FAILURES
    const state = pauses ? { enabled: false, disabled_reason: 'failures' as const, updated_at: clock.now() } : {}
    await hookRows.update(tx, { id: hook.id }, { consecutive_failures, ...state })
    if (pauses) await tellPaused(tx, { ...hook, consecutive_failures }, error)
  }

  /** Records the pause in the audit log and emits the event. */
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
