import { actingIdentityOf } from '../accounts'
import type { AuditLog } from '../audit'
import { type BusEventRow, type EventBus, eventRepository, type FanOut } from '../events'
import type { EventId } from '../events/schema'
import { defineJob, type Jobs, type Outcome, type Running } from '../jobs'
import { ownerOf } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { fence } from '../kernel/fence'
import { newRequestId } from '../kernel/ids'
import type { Store, Tx } from '../kernel/store'
import { beginningOf } from '../kernel/text'
import { SCHEDULE_JOB, type ScheduleDue, type SkillService, skillHookDue, type Triggered } from '../skills'
import type { InstallationId } from '../skills/schema'
import { MAX_DATA, MAX_FAILURES, type NewRun, type SkillRuns } from './skill-runs'
import type { SkillRunRow } from './table'

type Notice = Pick<BusEventRow, 'id' | 'type' | 'envelope'>

type Deps = {
  store: Store
  clock: Clock
  audit: Pick<AuditLog, 'recordUnattended'>
  events: EventBus
  jobs: Pick<Jobs, 'register' | 'enqueue'>
  fanOut: Pick<FanOut, 'receive'>
  skills: Pick<SkillService, 'triggers'>
  runs: SkillRuns
}

type Happened = {
  event: EventId
  type: string
  owner: Triggered['installation']['owner']
  depth: number
  ids: string[]
}

const RETRY = { attempts: 12, delayMs: (attempt: number) => Math.min(2 ** attempt, 60) * 1_000 }

/**
 * Runs installed skills on the events and at the times of their triggers (docs/api.md 8.1). Also runs the `hooks`
 * prompt of a skill once when it is installed or removed, billed to the owner who did so.
 */
export function registerTriggers({
  store,
  clock,
  audit,
  events,
  jobs,
  fanOut,
  skills: { triggers },
  runs,
}: Deps): void {
  const common = { retry: RETRY, timeLimitMs: 60_000, concurrency: 16, keepMs: 0 }
  const happened = defineJob<Happened, null>({ ...common, name: 'skills.triggered', run: onEvent })
  jobs.register(happened)
  jobs.register(defineJob<ScheduleDue, null>({ ...common, ...SCHEDULE_JOB, run: onTime }))
  fanOut.receive('skill', async (tx, { id, owner, type, depth }, ids) => {
    await jobs.enqueue(tx, happened, { owner, payload: { event: id, type, owner, depth, ids: [...ids] } })
  })
  events.inTransaction(skillHookDue, async (tx, { data: { call, skill, cause, prompt } }) => {
    const { caller, route, depth = 0 } = call
    const { id, slug } = skill
    const about = { owner: ownerOf(caller), behalf: actingIdentityOf(caller), skill: { id, slug } }
    await runs.begin(tx, { ...about, cause, prompt, route, depth })
  })
  runs.onEnd('event', ended)
  runs.onEnd('schedule', ended)

  async function onEvent({ payload: { event: id, type, owner, depth, ids } }: Running<Happened>) {
    const envelope = (await eventRepository.envelopes(store.read, [id])).get(id)
    if (envelope === undefined) return {}
    const about = { cause: 'event' as const, prompt: eventPrompt({ id, type, envelope }), eventId: id, depth }
    return {
      effects: async (tx: Tx) => {
        for (const one of ids.sort()) {
          const found = await triggers.find(tx, owner, one as InstallationId)
          if (found?.trigger.type === 'event') await runs.begin(tx, inputOf(found, about))
        }
      },
    }
  }

  /** Missed times, for example while no server ran, cause a single run. */
  async function onTime({ payload: { installation: id, owner, at } }: Running<ScheduleDue>): Promise<Outcome<null>> {
    return {
      effects: async (tx) => {
        const found = await triggers.find(tx, owner, id)
        if (!found || found.installation.next_run_at !== at) return
        await triggers.plan(tx, found, clock.now())
        const prompt = `It is ${iso(at)}, the time that your schedule names. Do your task.`
        await runs.begin(tx, inputOf(found, { cause: 'schedule', prompt }))
      },
    }
  }

  /** `MAX_FAILURES` consecutive failures disable the installation. */
  async function ended(tx: Tx, { owner, source, skill_id, slug, status }: SkillRunRow): Promise<void> {
    if (status !== 'completed' && status !== 'failed') return
    const found = await triggers.installation(tx, owner, source as InstallationId)
    if (!found) return
    const failures = status === 'failed' ? found.failures + 1 : 0
    const pauses = found.enabled && failures >= MAX_FAILURES
    await triggers.change(tx, owner, skill_id, { failures, ...(pauses ? { enabled: false } : {}) })
    if (!pauses) return
    await triggers.follow(tx, owner, found.id)
    const about = { scope: owner, requestId: newRequestId() }
    const input = { metadata: { slug, failures } }
    await audit.recordUnattended(tx, about, {
      action: 'skill.paused',
      entityType: 'skill',
      entityId: skill_id,
      input,
    })
  }
}

type About = Pick<NewRun, 'cause' | 'prompt'> & Partial<Pick<NewRun, 'eventId' | 'depth'>>

/** An installation runs for the account that installed it. Its owner pays. */
const inputOf = ({ installation, skill }: Triggered, about: About): NewRun => {
  const { id, owner, user_id, api_key_id } = installation
  const active_org_id = null
  const { slug } = skill
  return { ...about, owner, behalf: { user_id, api_key_id, active_org_id }, skill: { id: skill.id, slug }, source: id }
}

/**
 * The prompt of a run for an event. The event is fenced as data, because anyone may have written it. `settings` are the
 * hook's own settings, and `task` is the owner's instruction.
 */
export function eventPrompt({ id, type, envelope }: Notice, settings: Readonly<Record<string, unknown>> = {}): string {
  const { data, created } = JSON.parse(envelope) as { data: unknown; created: string }
  const { prompt: task, ...others } = settings
  const text = JSON.stringify(data, null, 1)
  const shown = text.length > MAX_DATA ? `${beginningOf(text, MAX_DATA)}\n… and ${text.length - MAX_DATA} more` : text
  return [
    typeof task === 'string' && task.trim() ? task : 'This event has happened. Do your task with it.',
    ...(Object.keys(others).length ? [`Settings: ${JSON.stringify(others)}`] : []),
    fence(`event ${type} ${id} of ${created}`, shown),
  ].join('\n\n')
}
