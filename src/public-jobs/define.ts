import type { AuditLog } from '../audit'
import { type Billing, chargeOf } from '../billing'
import type { EventBus } from '../events'
import type { Files } from '../files'
import { type About, ArtifactId } from '../files/schema'
import { defineJob, type JobKind, type JobRow, type Jobs, type Outcome, type Running } from '../jobs'
import { CANCELLED } from '../jobs/schema'
import type { OwnerScope } from '../kernel/caller'
import type { Tx } from '../kernel/store'
import { jobCompleted, jobFailed } from './events'
import type { Ended, Made, Ordered, PublicKind } from './kind'
import { presentJob } from './present'

export type DefineDeps = {
  jobs: Jobs
  audit: AuditLog
  events: EventBus
  files: Files
  billing: Pick<Billing, 'settle' | 'release'>
}

/** A longer result is a file (catalogue S4). */
const MOST_INLINE_BYTES = 1024 * 1024

/** Makes a kind of job of a public one: what was held is settled or released, recorded and told with the end of a job. */
export function createDefine({ jobs, audit, events, files, billing }: DefineDeps) {
  return function define<Input extends object>(kind: PublicKind<Input>): JobKind<Ordered<Input>, Ended> {
    const { run, ...rest } = kind
    const whole = defineJob<Ordered<Input>, Ended>({
      ...rest,
      run: async (job) => outcomeOf(job, asFile(await run({ ...job, payload: job.payload.input }), kind.shown)),
      onEnd,
    })
    jobs.register(whole)
    return whole
  }

  async function outcomeOf(job: Running<Ordered>, made: Promise<Made>): Promise<Outcome<Ended>> {
    const { text = null, data = null, file, cost, effects } = await made
    const { hold } = job.payload
    const artifact = file ? ArtifactId.create() : null
    return {
      result: { text, data, artifact, cost: hold ? chargeOf(hold, cost) : 0 },
      effects: async (tx) => {
        if (file && artifact) await files.add(tx, job.owner!, file.draft, file.about, artifact)
        await effects?.(tx)
      },
    }
  }

  async function asFile(made: Made, type: string): Promise<Made> {
    const { text = null, data = null } = made
    const whole = Buffer.from(JSON.stringify({ result: text, result_data: data }))
    if (whole.byteLength <= MOST_INLINE_BYTES || made.file) return made
    const draft = await files.receive(whole, 'application/json')
    const about: About = { type: 'file', filename: `${type}.json`, engine: 'svc-core', model: `svc-1-${type}` }
    const { text: _text, data: _data, ...others } = made
    return { ...others, file: { draft, about } }
  }

  async function onEnd(tx: Tx, row: JobRow): Promise<void> {
    const owner = row.owner as OwnerScope
    const { hold, payer, requestId, userId } = row.payload as Ordered
    const isDone = row.state === 'completed'
    if (hold && isDone) await billing.settle(tx, hold, (row.result as Ended).cost)
    if (hold && !isDone) await billing.release(tx, hold)
    const job = await presentJob(tx, row, files)
    // Who cancelled it is recorded with the call.
    if (row.error !== CANCELLED) {
      const about = { scope: owner, requestId, userId, keyId: payer.keyId }
      await audit.recordUnattended(tx, about, {
        action: isDone ? 'job.completed' : 'job.failed',
        entityType: 'job',
        entityId: row.id,
        output: { cost_cents: job.usage.cost_cents },
      })
    }
    const { type, status, result, error, usage, created_at, completed_at } = job
    const data = { job_id: row.id, type, status, result, error, usage, created_at, completed_at }
    await events.emit(tx, isDone ? jobCompleted : jobFailed, owner, data)
  }
}
