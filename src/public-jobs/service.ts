import { type Billing, jobHolds } from '../billing'
import { payerOf, refOf, requestOf } from '../billing/schema'
import { storeAnswer } from '../idempotency'
import type { JobRow } from '../jobs'
import { JobId } from '../jobs/schema'
import { type Call, type Caller, type OperatorCaller, ownerOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { AppError, notFound } from '../kernel/errors'
import { pageFields } from '../kernel/page'
import type { Reader, Store, Tx } from '../kernel/store'
import { findOwner, type OrgService } from '../orgs'
import { createDefine, type DefineDeps } from './define'
import { hasEnded, hasNotFailed, queueUnavailable } from './errors'
import type { Ordered, PublicKind } from './kind'
import { createJobOversight } from './oversight'
import { presentJob } from './present'
import type { Job, JobPage, JobQuery, JobReply } from './schema'

type Deps = Omit<DefineDeps, 'billing'> & {
  store: Store
  clock: Clock
  orgs: OrgService
  billing: Pick<Billing, 'reserve' | 'settle' | 'release'>
  /** Whether a process runs jobs; without one they would hold credit and wait. */
  isServed(): boolean
}

type Order<Input extends object, Answer> = {
  input: Input
  /** Micro-cents to hold; 0 for work that costs nothing. */
  hold: number
  /** The answer to the request; stored for its Idempotency-Key. */
  answer(id: JobId): Answer
  /** Commits with the job. */
  effects?(tx: Tx, id: JobId): Promise<unknown>
}

/** A job that is not in line yet. */
export type Later = { readonly id: JobId; begin(tx: Tx): Promise<void> }

type Kind = Pick<PublicKind<never>, 'name' | 'shown'>
export type PublicJobs = ReturnType<typeof createPublicJobs>

const RETRY_AFTER_S = 5
const PAGE = 500

/** Where callers follow a job. */
export const pollUrlOf = (id: JobId): string => `/api/v1/jobs/${id}`

/** Jobs that callers start, follow, cancel and pay for (contract 7). */
export function createPublicJobs(deps: Deps) {
  const { store, clock, jobs, audit, files, billing, orgs, isServed } = deps
  const ownerNamed = async (reader: Reader, word: string) => (await findOwner(orgs, reader, word)).scope
  const oversight = createJobOversight({ store, jobs, audit, ownerNamed })
  return { define: createDefine(deps), accept, later, list, get, cancel, retry, verify, oversight }

  /**
   * Puts a job in line and holds its price, in one commit. Throws 402 `insufficient_credits`, and 503
   * `queue_unavailable` when the job could not be stored (I16) or no process runs jobs.
   */
  async function accept<Input extends object, Answer extends object>(
    call: Call,
    kind: Kind,
    { input, hold, answer, effects }: Order<Input, Answer>,
  ): Promise<Answer> {
    const payer = payerOf(call.caller)
    const { requestId, caller } = call
    try {
      return await store.write(async (tx) => {
        const id = await begin(tx, kind, { input, payer, requestId, userId: caller.userId }, hold)
        await effects?.(tx, id)
        return storeAnswer(tx, call, answer(id))
      })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'storage_unavailable') throw error
      throw queueUnavailable.with({ retryAfterS: error.retryAfterS ?? RETRY_AFTER_S, cause: error })
    }
  }

  /**
   * A job that goes on with what a request began: its id is known before, and it is put in line in the unit that ends
   * the request. `begin` throws 402 and 503 `queue_unavailable`.
   */
  function later<Input extends object>(
    { caller, requestId }: Pick<Call, 'caller' | 'requestId'>,
    kind: Kind,
    { input, hold, effects }: Pick<Order<Input, never>, 'input' | 'hold' | 'effects'>,
  ): Later {
    const id = JobId.create()
    const order = { input, payer: payerOf(caller), requestId, userId: caller.userId }
    return {
      id,
      async begin(tx) {
        await begin(tx, kind, order, hold, id)
        await effects?.(tx, id)
      },
    }
  }

  async function begin(
    tx: Tx,
    kind: Kind,
    order: Omit<Ordered, 'hold'>,
    amount: number,
    id = JobId.create(),
  ): Promise<JobId> {
    if (!isServed()) throw queueUnavailable.with({ retryAfterS: RETRY_AFTER_S })
    const hold = await billing.reserve(tx, { ...order.payer, ref: refOf(id, clock.now()), amount, forJob: true })
    const payload: Ordered = { ...order, hold }
    await jobs.enqueue(tx, kind, { id, owner: order.payer.owner, keyId: order.payer.keyId, payload })
    return id
  }

  async function list({ caller }: Call<Caller>, query: JobQuery, whose?: string): Promise<JobPage> {
    const page = await jobs.shown.list(store.read, await reachOf(caller, whose), query)
    return { jobs: await Promise.all(page.items.map((row) => presented(store.read, row))), ...pageFields(page) }
  }

  async function get(call: Call<Caller>, id: string): Promise<JobReply> {
    return twice(await presented(store.read, await find(store.read, call, id)))
  }

  /** Ends a job that is queued or active. Throws 404, and 409 `conflict` when it has ended. */
  function cancel(call: Call<Caller>, id: string): Promise<JobReply> {
    return store.write(async (tx) => {
      const row = await find(tx, call, id)
      if (!(await jobs.cancel(tx, row))) throw hasEnded((await find(tx, call, id)).state)
      await audit.record(tx, call, entryOf('job.cancelled', row))
      const job = twice(await presented(tx, await find(tx, call, id)))
      return call.caller.type === 'operator' ? job : storeAnswer(tx, call as Call, job)
    })
  }

  /**
   * Puts the work of a job that failed in line again, as a new job: an ended one never changes (contract 7). Its owner
   * pays as for the first. Throws 404, 409 `conflict`, 402 `insufficient_credits`, 503 `queue_unavailable`.
   */
  function retry(call: Call<OperatorCaller>, id: string): Promise<JobReply> {
    return store.write(async (tx) => {
      const row = await find(tx, call, id)
      if (row.state !== 'failed') throw hasNotFailed(row.state)
      const { hold, ...order } = row.payload as Ordered
      const next = await begin(tx, { name: row.kind, shown: row.type! }, order, hold?.amount ?? 0)
      await audit.record(tx, call, entryOf('job.retried', row, { job_id: next }))
      return twice(await presented(tx, await find(tx, call, next)))
    })
  }

  function presented(reader: Reader, row: JobRow): Promise<Job> {
    return presentJob(reader, row, files)
  }

  async function reachOf(caller: Caller, whose?: string) {
    if (caller.type !== 'operator') return ownerOf(caller)
    return whose === undefined ? null : ownerNamed(store.read, whose)
  }

  async function find(reader: Reader, { caller }: Call<Caller>, id: string): Promise<JobRow> {
    const owner = caller.type === 'operator' ? null : ownerOf(caller)
    const row = JobId.is(id) ? await jobs.shown.find(reader, owner, id) : undefined
    if (!row) throw notFound('job')
    return row
  }

  /** Sentences about credit that is held for jobs that have ended (I8, I9); empty when all is sound. */
  async function verify(reader: Reader): Promise<string[]> {
    const found: string[] = []
    for (let after = ''; ; ) {
      const holds = await jobHolds(reader, after, PAGE)
      const ids = holds.map(({ ref }) => requestOf(ref) as JobId)
      const open = await jobs.shown.open(reader, ids)
      // Read again: a job that ended between the two reads has ended its hold too.
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
