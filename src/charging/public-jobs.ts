import { findOwner } from '../accounts'
import type { AuditLog } from '../audit'
import { type Billing, chargeOf, jobHolds } from '../billing'
import { payerOf, refOf, requestOf } from '../billing/schema'
import { type EventBus, webhooksFor } from '../events'
import type { Files } from '../files'
import { type About, ArtifactId } from '../files/schema'
import { storeAnswer } from '../idempotency'
import { defineJob, type JobKind, type JobRow, type Jobs, type Outcome, type Running, statusOf } from '../jobs'
import { CANCELLED, JobId, type JobType } from '../jobs/schema'
import { type Call, type Caller, type OperatorCaller, type OwnerScope, ownerOf } from '../kernel/caller'
import { type Clock, iso, isoOrNull } from '../kernel/clock'
import { AppError, notFound } from '../kernel/errors'
import { inBatches } from '../kernel/loop'
import { microToCents } from '../kernel/money'
import { pageFields } from '../kernel/page'
import type { Reader, Store, Tx } from '../kernel/store'
import type {
  Job,
  JobLog,
  JobPage,
  JobPayload,
  JobPurge,
  JobQuery,
  JobQueues,
  JobReply,
  JobResult,
  JobsPurged,
  PublicKind,
  StoredJobResult,
} from './public-jobs-schema'
import { jobCompleted, jobFailed, presentJob, publicJobErrors } from './public-jobs-schema'

type OperatorAccessDeps = {
  store: Store
  jobs: Jobs
  audit: AuditLog
  /** The owner that an operator names. Throws 404. */
  ownerNamed(reader: Reader, word: string): Promise<OwnerScope>
}

const purged = (jobs: number): JobsPurged => ({ object: 'job_purge', jobs })

type DefineDeps = {
  jobs: Jobs
  audit: AuditLog
  events: EventBus
  files: Files
  billing: Pick<Billing, 'settleApart' | 'release'>
}

/** A longer result is stored as a file (docs/attacks.md S4). */
const MAX_INLINE_BYTES = 1024 * 1024

type Deps = Omit<DefineDeps, 'billing'> & {
  store: Store
  clock: Clock
  billing: Pick<Billing, 'reserve' | 'settleApart' | 'release'>
  /** True if a process runs jobs. Without one, jobs would hold credit and wait. */
  isServed(): boolean
}

type Params<Input extends object, Answer> = {
  input: Input
  /** Micro-cents to hold. 0 for free work. */
  hold: number
  /** Builds the response, which is also stored for its Idempotency-Key. */
  answer(id: JobId): Answer
  /** Commits with the job. */
  effects?(tx: Tx, id: JobId): Promise<unknown>
  id?: JobId
}

/** A job that is not queued yet. */
export type Later = { readonly id: JobId; begin(tx: Tx): Promise<void> }

type Kind = Pick<PublicKind<never>, 'name' | 'shown'>
export type PublicJobs = ReturnType<typeof createPublicJobs>

const RETRY_AFTER_S = 5
const PAGE = 500

/** Path where callers poll a job. */
export const pollUrlOf = (id: JobId): string => `/api/v1/jobs/${id}`

/** Jobs that callers start, follow, cancel and pay for (docs/api.md 7). */
export function createPublicJobs(deps: Deps) {
  const { store, clock, jobs, audit, files, billing, isServed } = deps
  const ownerNamed = async (reader: Reader, word: string) => (await findOwner(reader, word)).scope
  const operatorAccess = createJobOperatorAccess({ store, jobs, audit, ownerNamed })
  const cancels = new Map<string, PublicKind<object>['cancel']>()
  return { define: createDefine(deps, cancels), accept, later, list, get, cancel, retry, verify, operatorAccess }

  /**
   * Queues a job and holds its price in one transaction. Throws 402 `insufficient_credits`, and 503 `queue_unavailable`
   * when the job could not be stored (docs/promises.md I16) or no process runs jobs.
   */
  async function accept<Input extends object, Answer extends object>(
    call: Call,
    kind: Kind,
    { input, hold, answer, effects, id: wanted }: Params<Input, Answer>,
  ): Promise<Answer> {
    const payer = payerOf(call.caller)
    const { requestId, caller } = call
    try {
      return await store.write(async (tx) => {
        const id = await begin(tx, kind, { input, payer, requestId, userId: caller.userId }, hold, wanted)
        await effects?.(tx, id)
        return storeAnswer(tx, call, answer(id))
      })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'storage_unavailable') throw error
      throw publicJobErrors.queueUnavailable.with({ retryAfterS: error.retryAfterS ?? RETRY_AFTER_S, cause: error })
    }
  }

  /**
   * A job that continues the work of a request. Its id is known at once. `begin` queues it in the transaction that ends
   * the request, and throws 402 and 503 `queue_unavailable`.
   */
  function later<Input extends object>(
    { caller, requestId }: Pick<Call, 'caller' | 'requestId'>,
    kind: Kind,
    { input, hold, effects }: Pick<Params<Input, never>, 'input' | 'hold' | 'effects'>,
  ): Later {
    const id = JobId.create()
    const params = { input, payer: payerOf(caller), requestId, userId: caller.userId }
    return {
      id,
      async begin(tx) {
        await begin(tx, kind, params, hold, id)
        await effects?.(tx, id)
      },
    }
  }

  async function begin(
    tx: Tx,
    kind: Kind,
    input: Omit<JobPayload, 'hold'>,
    amount: number,
    id = JobId.create(),
  ): Promise<JobId> {
    if (!isServed()) throw publicJobErrors.queueUnavailable.with({ retryAfterS: RETRY_AFTER_S })
    const hold = await billing.reserve(tx, { ...input.payer, ref: refOf(id, clock.now()), amount, forJob: true })
    const payload: JobPayload = { ...input, hold }
    await jobs.enqueue(tx, kind, { id, owner: input.payer.owner, keyId: input.payer.keyId, payload })
    return id
  }

  async function list({ caller }: Call<Caller>, query: JobQuery, ownerFilter?: string): Promise<JobPage> {
    const page = await jobs.shown.list(store.read, await scopeOf(caller, ownerFilter), query)
    return { jobs: await Promise.all(page.items.map((row) => presented(store.read, row))), ...pageFields(page) }
  }

  async function get(call: Call<Caller>, id: string): Promise<JobReply> {
    return twice(await presented(store.read, await find(store.read, call, id)))
  }

  /** Ends a queued or active job. Throws 404, and 409 `conflict` when it has ended. */
  function cancel(call: Call<Caller>, id: string): Promise<JobReply> {
    return store.write(async (tx) => {
      const row = await find(tx, call, id)
      const own = cancels.get(row.kind)
      const isCancelled = own ? own(tx, row, (row.payload as JobPayload).input) : jobs.cancel(tx, row)
      if (!(await isCancelled)) throw publicJobErrors.hasEnded((await find(tx, call, id)).state)
      await audit.record(tx, call, entryOf('job.cancelled', row))
      const job = twice(await presented(tx, await find(tx, call, id)))
      return call.caller.type === 'operator' ? job : storeAnswer(tx, call as Call, job)
    })
  }

  /**
   * Queues the work of a failed job again as a new job, because an ended job never changes (docs/api.md 7). Its owner
   * pays again. Throws 404, 409 `conflict`, 402 `insufficient_credits`, 503 `queue_unavailable`.
   */
  function retry(call: Call<OperatorCaller>, id: string): Promise<JobReply> {
    return store.write(async (tx) => {
      const row = await find(tx, call, id)
      if (row.state !== 'failed') throw publicJobErrors.hasNotFailed(row.state)
      const { hold, ...input } = row.payload as JobPayload
      const next = await begin(tx, { name: row.kind, shown: row.type! }, input, hold?.amount ?? 0)
      await audit.record(tx, call, entryOf('job.retried', row, { job_id: next }))
      return twice(await presented(tx, await find(tx, call, next)))
    })
  }

  function presented(reader: Reader, row: JobRow): Promise<Job> {
    return presentJob(reader, row, files)
  }

  async function scopeOf(caller: Caller, ownerFilter?: string) {
    if (caller.type !== 'operator') return ownerOf(caller)
    return ownerFilter === undefined ? null : ownerNamed(store.read, ownerFilter)
  }

  async function find(reader: Reader, { caller }: Call<Caller>, id: string): Promise<JobRow> {
    const owner = caller.type === 'operator' ? null : ownerOf(caller)
    const row = JobId.is(id) ? await jobs.shown.find(reader, owner, id) : undefined
    if (!row) throw notFound('job')
    return row
  }

  /** Reports credit that is still held for ended jobs, one sentence each. Empty if there is none. */
  async function verify(reader: Reader): Promise<string[]> {
    const found: string[] = []
    for (let after = ''; ; ) {
      const holds = await jobHolds(reader, after, PAGE)
      const ids = holds.map(({ ref }) => requestOf(ref) as JobId)
      const open = await jobs.shown.open(reader, ids)
      // Reads the holds again, because a job that ended between the two reads has also ended its hold.
      const left = new Set((await jobHolds(reader, after, PAGE)).map(({ ref }) => ref))
      for (const [at, { ref }] of holds.entries()) {
        if (!open.has(ids[at]!) && left.has(ref)) found.push(`hold ${ref} is still open, but its job has ended`)
      }
      if (holds.length < PAGE) return found
      after = holds.at(-1)!.ref
    }
  }
}

const twice = (job: Job): JobReply => ({ ...job, job })

const entryOf = (action: string, { id, owner }: JobRow, metadata?: Record<string, string>) => ({
  action,
  entityType: 'job' as const,
  entityId: id,
  ...(owner ? { scope: owner } : {}),
  ...(metadata ? { input: { metadata } } : {}),
})

/** Turns a public kind into a job kind. The end of the job also settles or releases the hold, and emits the event. */
function createDefine(
  { jobs, audit, events, files, billing }: DefineDeps,
  cancels: Map<string, PublicKind<object>['cancel']>,
) {
  return function define<Input extends object>(kind: PublicKind<Input>): JobKind<JobPayload<Input>, StoredJobResult> {
    const { run, cancel, onFailure, ...rest } = kind
    const whole = defineJob<JobPayload<Input>, StoredJobResult>({
      ...rest,
      async run(job) {
        const { input, hold } = job.payload
        const made = await run({ ...job, payload: input }, hold)
        return 'again' in made ? made : outcomeOf(job, asFile(made, kind.shown))
      },
      ...(onFailure ? { onFailed: (tx, { payload }, error) => onFailure(tx, payload.input, error) } : {}),
      onEnd,
    })
    cancels.set(kind.name, cancel as PublicKind<object>['cancel'])
    jobs.register(whole)
    return whole
  }

  async function outcomeOf(job: Running<JobPayload>, made: Promise<JobResult>): Promise<Outcome<StoredJobResult>> {
    const { text = null, data = null, file, cost, effects } = await made
    const { hold } = job.payload
    const artifact = file ? ArtifactId.create() : null
    return {
      result: { text, data, artifact, cost: hold ? chargeOf(hold, cost) : 0 },
      effects: async (tx) => {
        const by = { requestId: job.payload.requestId, jobId: job.id }
        if (file && artifact) await files.add(tx, job.owner!, file.draft, { ...file.about, ...by }, artifact)
        await effects?.(tx)
      },
    }
  }

  async function asFile(made: JobResult, type: string): Promise<JobResult> {
    const { text = null, data = null } = made
    const whole = Buffer.from(JSON.stringify({ result: text, result_data: data }))
    if (whole.byteLength <= MAX_INLINE_BYTES || made.file) return made
    const draft = await files.receive(whole, 'application/json')
    const about: About = { type: 'file', filename: `${type}.json`, engine: 'svc-core', model: `svc-1-${type}` }
    const { text: _text, data: _data, ...others } = made
    return { ...others, file: { draft, about } }
  }

  async function onEnd(tx: Tx, row: JobRow): Promise<void> {
    const owner = row.owner as OwnerScope
    const { hold, payer, requestId, userId } = row.payload as JobPayload
    const isDone = row.state === 'completed'
    if (hold && isDone) await billing.settleApart(tx, hold, (row.result as StoredJobResult).cost)
    if (hold && !isDone) await billing.release(tx, hold)
    const job = await presentJob(tx, row, files)
    // The cancelling call already recorded a cancellation.
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

/** Actions on all owners' jobs that only operators have (docs/operating.md 2.12). */
function createJobOperatorAccess({ store, jobs, audit, ownerNamed }: OperatorAccessDeps) {
  return { log, queues, pause, resume, purge }

  /** Each attempt of a job and its steps. Throws 404. */
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
    const cost = (row.result as StoredJobResult | null)?.cost ?? 0
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

  /** Starts no more jobs of the type. Running jobs continue. Idempotent. */
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

  /** Deletes ended jobs with their results and logs. The files they made remain. Throws 404 for an unknown owner. */
  async function purge(
    call: Call<OperatorCaller>,
    { before, owner: ownerFilter, count_only }: JobPurge,
  ): Promise<JobsPurged> {
    const owner = ownerFilter === undefined ? null : await ownerNamed(store.read, ownerFilter)
    const wanted = { kinds: jobs.queues.namesOf(), before: Date.parse(before), owner }
    if (count_only) return purged(await jobs.countEnded(store.read, wanted))
    const removeSome = (limit: number, from: number) =>
      store.write(async (tx) => {
        const some = await jobs.removeEnded(tx, wanted, { limit, from })
        const input = { metadata: { before, jobs: some.length } }
        const scope = owner ?? 'server'
        if (some.length)
          await audit.record(tx, call, { action: 'job.purged', entityType: 'job', entityId: null, scope, input })
        return some
      })
    return purged(await inBatches(removeSome))
  }
}
