import type { AuditLog } from '../audit'
import { webhooksFor } from '../events'
import { type Jobs, statusOf } from '../jobs'
import { JobId, type JobType } from '../jobs/schema'
import type { Call, OperatorCaller, OwnerScope } from '../kernel/caller'
import { iso, isoOrNull } from '../kernel/clock'
import { notFound } from '../kernel/errors'
import { microToCents } from '../kernel/money'
import type { Reader, Store, Tx } from '../kernel/store'
import { jobCompleted } from './events'
import type { Ended } from './kind'
import type { JobLog, JobPurge, JobQueues, JobsPurged } from './schema'

type Deps = {
  store: Store
  jobs: Jobs
  audit: AuditLog
  /** Whose jobs a word of an operator names. Throws 404. */
  ownerNamed(reader: Reader, word: string): Promise<OwnerScope>
}

/** What only operators do with the jobs of everyone (dx 2.12). */
export function createJobOversight({ store, jobs, audit, ownerNamed }: Deps) {
  return { log, queues, pause, resume, purge }

  /** Each try of a job and what it did. Throws 404. */
  async function log(id: string): Promise<JobLog> {
    const row = JobId.is(id) ? await jobs.shown.find(store.read, null, id) : undefined
    if (!row) throw notFound('job')
    const steps = (await jobs.stepsOf(store.read, row.id)).map(({ at, what, attempt, detail }) => ({
      at: iso(at),
      what,
      attempt,
      detail,
    }))
    const queued = { at: iso(row.created_at), what: 'queued' as const, attempt: 0, detail: null }
    const status = statusOf(row)
    const isOver = row.completed_at !== null
    const cost = (row.result as Ended | null)?.cost ?? 0
    const webhooks = isOver || row.owner === null ? 0 : await webhooksFor(store.read, row.owner, jobCompleted.type)
    const end =
      row.completed_at === null
        ? []
        : [
            {
              at: iso(row.completed_at),
              what: status as 'completed' | 'failed',
              attempt: row.attempts,
              detail: row.error,
            },
          ]
    const cost_cents = isOver ? microToCents(cost) : null
    return { object: 'job_log', job_id: row.id, status, cost_cents, webhooks, steps: [queued, ...steps, ...end] }
  }

  async function queues(): Promise<JobQueues> {
    const all = await jobs.queues.all(store.read)
    return {
      queues: all.map(({ oldest, paused_at, ...queue }) => ({
        ...queue,
        oldest_at: isoOrNull(oldest),
        paused_at: isoOrNull(paused_at),
      })),
    }
  }

  /** No more jobs of the type begin; those that run go on. Doing it twice changes nothing. */
  function pause(call: Call<OperatorCaller>, type: JobType): Promise<JobQueues> {
    return hold(call, type, 'job.paused', jobs.queues.pause)
  }

  function resume(call: Call<OperatorCaller>, type: JobType): Promise<JobQueues> {
    return hold(call, type, 'job.resumed', jobs.queues.resume)
  }

  async function hold(
    call: Call<OperatorCaller>,
    type: JobType,
    action: string,
    change: (tx: Tx, type: JobType) => Promise<boolean>,
  ): Promise<JobQueues> {
    await store.write(async (tx) => {
      if (!(await change(tx, type))) return
      const input = { metadata: { type } }
      await audit.record(tx, call, { action, entityType: 'job', entityId: null, scope: 'server', input })
    })
    return queues()
  }

  /** Deletes ended jobs with their results and logs; files that they made stay. Throws 404 for an unknown owner. */
  async function purge(
    call: Call<OperatorCaller>,
    { before, owner: whose, count_only }: JobPurge,
  ): Promise<JobsPurged> {
    const owner = whose === undefined ? null : await ownerNamed(store.read, whose)
    const wanted = { kinds: jobs.queues.namesOf(), before: Date.parse(before), owner }
    if (count_only) return purged(await jobs.countEnded(store.read, wanted))
    for (let total = 0; ; ) {
      const gone = await store.write(async (tx) => {
        const some = await jobs.removeEnded(tx, wanted)
        const input = { metadata: { before, jobs: some } }
        const scope = owner ?? 'server'
        if (some)
          await audit.record(tx, call, { action: 'job.purged', entityType: 'job', entityId: null, scope, input })
        return some
      })
      if (!gone) return purged(total)
      total += gone
    }
  }
}

const purged = (jobs: number): JobsPurged => ({ object: 'job_purge', jobs })
