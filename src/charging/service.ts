import type { AuditLog, CallEntry } from '../audit'
import { type Billing, type Consumption, hasCaps, type Prices, type Settling } from '../billing'
import { type Hold, payerOf, type Reservation, refOf } from '../billing/schema'
import type { EngineService } from '../engines'
import type { EventBus } from '../events'
import type { Draft, Files } from '../files'
import type { Artifact } from '../files/schema'
import { type GuardrailService, guardrailBlocked, replacementText } from '../guardrails'
import { storeAnswer } from '../idempotency'
import { type Call, ownerOf, type TenantCaller } from '../kernel/caller'
import { type Clock, Deadline } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { failpoint } from '../kernel/failpoint'
import { microToCents } from '../kernel/money'
import type { Store, Tx } from '../kernel/store'
import type { RateLimiter } from '../limits'
import type { UsageEntry, UsageLog } from '../usage'
import type { Input, Work, WorkRequest, WorkResult } from './kind'
import { clientLeft, tookTooLong } from './kind'
import { type Charging, createRecord } from './record'

type HoldsDeps = { store: Store; clock: Clock; billing: Billing; audit: AuditLog; usage: UsageLog }

/** Work that ends, as data, so that works which end together are charged and recorded with the same statements. */
export type CallEnd = Settling & {
  /** The hold is of a job, which frees it if the work fails. */
  readonly isOfJob?: boolean
  /** Further writes of the transaction, before the record. They know what was charged, in micro-cents. */
  readonly effects?: ((tx: Tx, costMicro: number) => Promise<unknown>) | null
  /** True if the effects change or lock rows that another ending may need. */
  readonly isAlone?: boolean
  /** Describes the call, once it is known what was charged (micro-cents). */
  describe(costMicro: number): CallRecord
  /** What follows from the record in its transaction, such as an event. Null if nothing does. */
  tell(tx: Tx): Promise<unknown> | null
}

/** The record of a call: its audit event, and its usage row, which contains the event. */
export type CallRecord = { call: Call; entry: CallEntry; usage: UsageEntry }

export type Holds = ReturnType<typeof createHolds>

type Deps = HoldsDeps & {
  events: EventBus
  files: Pick<Files, 'receive' | 'discard' | 'add'>
  limiter: Pick<RateLimiter, 'admitMode' | 'countTokens' | 'reserveTokens'>
  prices: Prices
  guardrails: Pick<GuardrailService, 'guardOf'>
  engines: Pick<EngineService, 'describe' | 'maxOutputTokens'>
}

export type ChargingService = ReturnType<typeof createCharging>

/** Work that has passed the rate limit, the credit check and the policy, with the micro-cents to hold for it. */
type Admitted = { charging: Charging; texts: Readonly<Record<string, string>>; hold: number }

const TIMEOUT_S = 120

/** One charged request that makes something: admitted, held for, made, charged in one commit (docs/api.md 6). */
export function createCharging(deps: Deps) {
  const { store, clock, files, limiter, billing, prices, guardrails, engines } = deps
  const holds = createHolds(deps)
  const { ended, refused, accepted, delivered } = createRecord(deps)
  return { run, admit, accepted, resume, reserveTokens, countTokens: limiter.countTokens }

  /**
   * Counts the mode's rate limit, checks for credit, and applies the caller's policy to its texts. Throws 429
   * `mode_rate_limit_exceeded`, 402 `insufficient_credits`, 400 `guardrail_blocked`, which it records. `isHeldNext`:
   * the hold follows at once and checks the credit itself. The credit is then only checked here if a policy may reject
   * the request.
   */
  async function admit(call: Call, wanted: WorkRequest, isHeldNext = false): Promise<Admitted> {
    const startedAt = clock.monotonic()
    await limiter.admitMode(call.caller, wanted.mode)
    const guard = await guardrails.guardOf(call.caller)
    const isLeftToHold = isHeldNext && !guard?.hasRules('input')
    if (!isLeftToHold) await billing.assertFunds(store.read, call)
    const charging = { call, wanted, guard, startedAt }
    const texts = await guarded(charging)
    if (wanted.rest) charging.wanted = { ...wanted, ...(await wanted.rest(texts)) }
    const hold = wanted.free ? 0 : costOf(wanted, wanted.engineId, charging.wanted.max)
    if (isLeftToHold && hold === 0) await billing.assertFunds(store.read, call)
    return { charging, texts, hold }
  }

  function costOf({ also }: WorkRequest, engineId: string, used: Consumption): number {
    return prices.costOf(engineId, used) + (also ? prices.costOf(also, used) : 0)
  }

  /**
   * The same work later, in a job, under the policy that the caller has then. Guards engine texts, and records what was
   * made in the transaction that ends the job.
   */
  async function resume(call: Call, wanted: WorkRequest) {
    const charging: Charging = {
      call,
      wanted,
      guard: await guardrails.guardOf(call.caller),
      startedAt: clock.monotonic(),
    }
    return {
      guard: charging.guard,
      guardOutput: outputGuard(charging, wanted.texts, call.signal),
      /** Records that the work continues as a job, in the transaction that queues the job. */
      accepted: (tx: Tx, jobId: string) => accepted(tx, charging, jobId),
      delivered: (tx: Tx, made: Pick<WorkResult, 'used' | 'engineId'>, costMicro: number) =>
        delivered(tx, charging, { made, costMicro }),
    }
  }

  async function guarded(charging: Charging): Promise<WorkRequest['texts']> {
    const { guard, wanted, call } = charging
    if (!guard?.hasRules('input')) return wanted.texts
    const fields = Object.keys(wanted.texts)
    const { value, blocked, place } = await guard.checkInput(Object.values(wanted.texts), call.signal)
    if (!blocked) return Object.fromEntries(fields.map((field, at) => [field, value[at]!]))
    await store.write((tx) => refused(tx, charging))
    throw guardrailBlocked(blocked.guardrailId, blocked.message, fields[place]!, blocked.detail)
  }

  /**
   * Makes something and charges what it used, at most the price of `max`. One transaction writes the settlement, usage,
   * files, record, event and the stored response. A failure charges nothing and leaves no file. Throws like `admit`,
   * 429 `token_limit_exceeded`, 503, 504, and what `make` throws.
   */
  async function run<M extends WorkResult, Answer>(call: Call, input: Input<M, Answer>): Promise<Answer> {
    const { charging, texts, hold: amount } = await admit(call, input, true)
    const ticket = await reserveTokens(call, charging.wanted)
    let hold: Hold | null
    try {
      hold = await holds.place(call.caller, input.id, amount, store.failing())
    } catch (error) {
      ticket?.correct(0)
      throw error
    }
    const deadline = new Deadline(clock, [call.signal], TIMEOUT_S * 1_000)
    const drafts: Draft[] = []
    try {
      const made = await input.make(workOf(charging, texts, deadline, drafts))
      failpoint('engine_done_before_settle')
      const answer = await finish(charging, hold, made, input.answer)
      failpoint('settle_commit_before_ack')
      const { promptTokens = 0, completionTokens = 0 } = made.used
      ticket?.correct(promptTokens + completionTokens)
      await discard(drafts.filter((draft) => !made.files.some((file) => file.draft === draft)))
      return answer
    } catch (error) {
      ticket?.correct(0)
      // The error in the caller's terms: the time was up, or the client left.
      const left = call.signal.aborted ? clientLeft() : error
      throw await abandon(charging, hold, drafts, deadline.isLate ? tookTooLong(TIMEOUT_S) : left)
    } finally {
      deadline.end()
    }
  }

  async function finish<M extends WorkResult, Answer>(
    charging: Charging,
    hold: Hold | null,
    made: M,
    answer: Input<M, Answer>['answer'],
  ): Promise<Answer> {
    const { call, wanted } = charging
    const engineId = made.engineId ?? wanted.engineId
    const cost = hold && !made.free ? Math.min(costOf(wanted, engineId, made.used), hold.amount) : 0
    let artifacts: Artifact[] = []
    let shown: Answer | undefined
    const isPlain = !(made.files.length || made.effects || call.once)
    const answered = (costMicro: number) =>
      answer({ made, artifacts, costMicro, costCents: microToCents(costMicro), at: clock.now() })
    const effects = async (tx: Tx, costMicro: number) => {
      artifacts = []
      for (const [place, { draft, about, id }] of made.files.entries()) {
        const costs = { ...about, requestId: call.requestId, costMicro: place === 0 ? costMicro : 0 }
        artifacts.push(await files.add(tx, ownerOf(call.caller), draft, costs, id))
      }
      await made.effects?.(tx, costMicro)
      shown = await storeAnswer(tx, call, answered(costMicro))
    }
    const about = ended(charging, { made, costMicro: 0, hold })
    const costMicro = await holds.end({ hold, cost, isAlone: !isPlain, effects: isPlain ? null : effects, ...about })
    return isPlain ? answered(costMicro) : shown!
  }

  /** Releases the hold, records the failure and removes the stored files. Returns the error to throw. */
  async function abandon(charging: Charging, hold: Hold | null, drafts: Draft[], error: unknown): Promise<unknown> {
    // If the commit's outcome is unknown, the files may be in use. The sweep removes those that are not.
    if (error instanceof AppError && error.code === 'storage_unavailable') return error
    await discard(drafts)
    await holds.fail({ hold, cost: 0, ...ended(charging, { made: null, costMicro: 0, broken: error }) })
    return error
  }

  /** Reserves the tokens that the work is expected to use (docs/api.md 1.6). Null if it uses none. Throws 429. */
  function reserveTokens({ caller }: Call, { engineId, max, reads = max.promptTokens ?? 0 }: WorkRequest) {
    const output = Math.min(max.completionTokens ?? 0, engines.maxOutputTokens(engineId))
    return reads + output > 0 ? limiter.reserveTokens(caller, reads, output) : null
  }

  function workOf(charging: Charging, texts: WorkRequest['texts'], { signal }: Deadline, drafts: Draft[]): Work {
    const { call } = charging
    return {
      texts,
      signal,
      call,
      owner: ownerOf(call.caller),
      async keep(source, mimeType) {
        const draft = await files.receive(source, mimeType)
        drafts.push(draft)
        return draft
      },
      guardOutput: outputGuard(charging, texts, signal),
    }
  }

  /** Files that cannot be removed now are removed by the sweep. */
  function discard(drafts: readonly Draft[]) {
    return Promise.all(drafts.map((draft) => files.discard(draft).catch(() => undefined)))
  }
}

function outputGuard({ guard }: Charging, texts: WorkRequest['texts'], signal: AbortSignal): Work['guardOutput'] {
  return async (text, systemPrompt = null) => {
    if (!guard?.hasRules('output') || !text) return { text, withheld: false }
    const about = { systemPrompt, sources: Object.values(texts), readJson: null }
    const { value, blocked } = await guard.checkAnswer(text, about, signal)
    return blocked ? { text: replacementText(blocked), withheld: true } : { text: value, withheld: false }
  }
}

/**
 * Holds credit before charged work, and ends the work with its charge and its record, even if the database fails
 * meanwhile.
 */
export function createHolds({ store, clock, billing, audit, usage }: HoldsDeps) {
  return { place, end, fail }

  /**
   * Holds micro-cents for the work of this id, once per id. Returns at once if calls share the hold. `surely` waits
   * until the hold is on disk. Throws 402 `insufficient_credits`, 503 `storage_unavailable`.
   */
  function place(
    caller: TenantCaller,
    id: string,
    amount: number,
    surely: boolean,
  ): Hold | null | Promise<Hold | null> {
    const wanted = { ...payerOf(caller), ref: refOf(id, clock.now()), amount }
    const sharing = surely ? null : billing.reserveShared(wanted)
    return sharing instanceof Promise
      ? sharing.then((shared) => shared ?? placeOwn(wanted, false))
      : (sharing ?? placeOwn(wanted, surely))
  }

  async function placeOwn(wanted: Reservation, surely: boolean): Promise<Hold | null> {
    if (wanted.amount <= 0) return null
    const unit = (tx: Tx) => billing.reserve(tx, wanted)
    const placing = surely
      ? store.write(unit)
      : hasCaps(wanted.caps)
        ? store.writeSoon(unit)
        : store.writeTogether(billing.reserveAll, wanted, true)
    const hold = await placing.catch((error: unknown) => {
      // The commit may have reached the database although its confirmation did not arrive.
      if (error instanceof AppError && error.kind === 'unavailable') billing.unended.add(wanted.ref)
      throw error
    })
    if (hold instanceof AppError) throw hold
    failpoint('after_hold_commit')
    return hold
  }

  /**
   * Ends work in one transaction: its charge, its effects, its record and what follows from it. Works that end at the
   * same time share the transaction, unless one has to be alone. Returns what was charged, in micro-cents: 0 if the
   * hold had ended, because another node released it while this process was paused. If the transaction fails, for
   * example without a database, the hold is released as soon as possible.
   */
  function end(ending: CallEnd): Promise<number> {
    const isAlone = ending.isAlone || ending.hold?.capped
    const written = isAlone
      ? store.write(async (tx) => (await endAll(tx, [ending]))[0]!)
      : store.writeTogether(endAll, ending)
    return releasedIfLost(ending, written)
  }

  async function endAll(tx: Tx, endings: readonly CallEnd[]): Promise<readonly number[]> {
    const charged = await billing.settleAll(tx, endings)
    const effects: Promise<unknown>[] = []
    for (let at = 0; at < endings.length; at++) {
      const effect = endings[at]!.effects?.(tx, charged[at]!)
      if (effect) effects.push(effect)
    }
    if (effects.length) await all(effects)
    await record(tx, endings, charged)
    return charged
  }

  /** Ends work that failed: frees its hold and records the failure. */
  function fail(ending: CallEnd): Promise<unknown> {
    const { hold, isOfJob = false } = ending
    const unit = async (tx: Tx) => {
      if (hold && !isOfJob) await billing.release(tx, hold)
      await record(tx, [ending], [0])
    }
    return releasedIfLost(ending, store.write(unit))
  }

  async function record(tx: Tx, endings: readonly CallEnd[], charged: readonly number[]): Promise<void> {
    const records: CallRecord[] = []
    const entries: CallRecord['usage'][] = []
    for (let at = 0; at < endings.length; at++) {
      records.push(endings[at]!.describe(charged[at]!))
      entries.push(records[at]!.usage)
    }
    await audit.recordCalls(tx, records, (unit, events) => usage.recordAll(unit, entries, events))
    const telling: Promise<unknown>[] = []
    for (const ending of endings) {
      const following = ending.tell(tx)
      if (following) telling.push(following)
    }
    if (telling.length) await all(telling)
  }

  async function releasedIfLost<T>({ hold, isOfJob }: CallEnd, written: Promise<T>): Promise<T> {
    try {
      return await written
    } catch (error) {
      if (hold && !isOfJob) billing.releaseLater(hold)
      throw error
    }
  }
}

/** Waits for all even if one fails, because none may continue after the transaction has ended. */
async function all(working: readonly Promise<unknown>[]): Promise<void> {
  for (const end of await Promise.allSettled(working)) if (end.status === 'rejected') throw end.reason
}
