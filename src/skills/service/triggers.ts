import { subscribe } from '../../events'
import { defineJob, type JobKind, type Jobs } from '../../jobs'
import type { OwnerScope } from '../../kernel/caller'
import type { OrgId } from '../../kernel/ids'
import { nextRunOf } from '../../kernel/schedule'
import type { Reader, Tx } from '../../kernel/store'
import type { SkillManifest } from '../manifest'
import { skillRepository as rows } from '../repository'
import { installRepository as installs } from '../repository-installs'
import { runnableVersion } from '../rules'
import type { InstallationId, SkillId } from '../schema'
import type { InstallationRow, SkillRow } from '../table'
import type { SkillDeps } from './deps'

export type TriggerDeps = Pick<SkillDeps, 'store' | 'clock' | 'orgs' | 'changed'> & {
  jobs: Pick<Jobs, 'register' | 'enqueue' | 'ensure'>
  /** The time zone of a user's account, for schedules without a time zone. */
  zoneOf(reader: Reader, userId: InstallationRow['user_id']): Promise<string>
}

export type Triggered = { installation: InstallationRow; skill: SkillRow; trigger: SkillManifest['trigger'] }

/** The job of one scheduled run, which `skill-runs` executes. */
export const SCHEDULE_JOB = { name: 'skills.schedule' } as const
export type ScheduleDue = { installation: InstallationId; owner: OwnerScope; at: number }

const BATCH = 50

export type SkillTriggers = ReturnType<typeof createTriggers>

/**
 * Manages the triggers `event` and `schedule` of installed skills: an event subscription, or a job for the next run
 * (docs/api.md 8.1). They depend on the installation and on the version that its owner runs.
 */
export function createTriggers({ store, clock, orgs, changed, jobs, zoneOf }: TriggerDeps) {
  const following: JobKind<{ skill: SkillId }, null> = defineJob({
    name: 'skills.follow',
    run: async ({ payload: { skill } }) => {
      let after: InstallationId | null = null
      for (;;) {
        const some: InstallationRow[] = await installs.ofSkill(store.read, skill, after, BATCH)
        if (!some.length) return {}
        for (const { owner, id } of some) await store.write((tx) => follow(tx, owner, id))
        after = some.at(-1)!.id
      }
    },
    retry: { attempts: 12, delayMs: (attempt) => Math.min(2 ** attempt, 60) * 1_000 },
    timeLimitMs: 600_000,
    concurrency: 2,
    keepMs: 0,
  })
  jobs.register(following)
  return { follow, followAll, find, installation: installs.lock, plan, change }

  /** Updates the subscription or schedule of an installation. A removed or disabled installation gets neither. */
  async function follow(tx: Tx, owner: OwnerScope, id: InstallationId): Promise<void> {
    const found = await find(tx, owner, id)
    const patterns = found?.trigger.type === 'event' ? [found.trigger.config!.eventPattern!] : []
    await subscribe(tx, { owner, subscriber: 'skill', target: id }, patterns)
    if (found) await plan(tx, found, clock.now())
  }

  /** Updates all installations of a skill in the background after its live version changed. */
  async function followAll(tx: Tx, skill: SkillId): Promise<void> {
    await jobs.ensure(tx, following, { owner: null, payload: { skill }, uniqueKey: skill })
  }

  /** Schedules the next run after a given time. When the schedule changed, the job of the old time does nothing. */
  async function plan(tx: Tx, { installation, trigger }: Triggered, after: number): Promise<void> {
    const { id, owner, user_id, next_run_at } = installation
    const at = trigger.type === 'schedule' ? await nextOf(tx, user_id, trigger.config!, after) : null
    if (at === next_run_at) return
    await change(tx, owner, installation.skill_id, { next_run_at: at })
    if (at === null) return
    const payload: ScheduleDue = { installation: id, owner, at }
    await jobs.enqueue(tx, SCHEDULE_JOB, { owner, payload, uniqueKey: `${id} ${at}`, runAt: at })
  }

  async function nextOf(
    reader: Reader,
    userId: InstallationRow['user_id'],
    { cron, timezone }: NonNullable<SkillManifest['trigger']['config']>,
    after: number,
  ): Promise<number | null> {
    return nextRunOf(cron!, timezone ?? (await zoneOf(reader, userId)), after)
  }

  /** Locks the installation until the transaction commits. Null if removed, disabled, or without `autonomous:run`. */
  async function find(tx: Tx, owner: OwnerScope, id: InstallationId): Promise<Triggered | null> {
    const installation = await installs.lock(tx, owner, id)
    if (!installation?.enabled) return null
    const skill = await rows.find(tx, installation.skill_id)
    if (!skill) return null
    const orgIds = owner.startsWith('org:')
      ? [owner.slice(4) as OrgId]
      : await orgs.orgIdsWith(tx, installation.user_id, 'viewUsage')
    const versionId = runnableVersion(skill, { owner, orgIds })
    const manifest = versionId ? (await rows.version(tx, versionId))?.manifest : undefined
    if (!manifest?.permissions.includes('autonomous:run')) return null
    return { installation, skill, trigger: manifest.trigger }
  }

  async function change(tx: Tx, owner: OwnerScope, skill: SkillId, columns: Partial<InstallationRow>): Promise<void> {
    await installs.update(tx, owner, skill, columns)
    if ('enabled' in columns) tx.afterCommit(() => changed(owner))
  }
}
