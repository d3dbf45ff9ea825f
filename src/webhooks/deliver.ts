import ipaddr from 'ipaddr.js'
import type { AuditLog } from '../audit'
import { defineEvent, type EventBus, eventRepository, subscribe } from '../events'
import type { EventId } from '../events/schema'
import { defineJob, type JobKind, type Jobs, type Outcome, type Running } from '../jobs'
import type { OwnerScope } from '../kernel/caller'
import { type Clock, isoOrNull } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { newRequestId } from '../kernel/ids'
import { inBatches } from '../kernel/loop'
import { hostOf, type Outbound, OutboundFailure } from '../kernel/outbound'
import type { Store, Tx } from '../kernel/store'
import { type Signed, signatureHeaders } from '../kernel/webhook-signature'
import {
  type Counts,
  deliveryRepository as log,
  outboxRepository as outbox,
  webhookRepository as rows,
} from './repository'
import {
  type Answer,
  type Failure,
  hasFailedTooLong,
  laneFor,
  outcomeOf,
  type Secrets,
  streakAfter,
  type Verdict,
} from './rules'
import { DeliveryId, type WebhookId } from './schema'
import type { DeliveryRow, Lane, OutboxRow, WebhookRow } from './table'

/** The server disabled a webhook. The owner's other webhooks receive this event (docs/api.md 14.3). */
const webhookDisabled = defineEvent<{
  webhook_id: string
  url: string
  reason: 'auto' | 'gone'
  failure_count: number
  last_delivered_at: string | null
}>('webhook.disabled')

export type EndedDelivery = {
  row: OutboxRow
  httpStatus: number | null
  verdict: Verdict
  /** End of the attempt, and its duration. */
  at: number
  durationMs: number
  /** Null if nothing was sent. */
  sent: Pick<DeliveryRow, 'bytes' | 'signature' | 'secret_version'> | null
}

type Deps = { audit: Pick<AuditLog, 'recordUnattended'>; events: Pick<EventBus, 'emit'> }

const logRowOf = (hook: WebhookRow, { row, httpStatus, verdict, at, durationMs, sent }: EndedDelivery) => ({
  ...(sent ?? { bytes: null, signature: null, secret_version: null }),
  id: DeliveryId.create(),
  webhook_id: hook.id,
  owner: hook.owner,
  event_id: row.event_id,
  event_type: row.event_type,
  http_status: httpStatus,
  error_message: verdict.message,
  status: verdict.ok ? ('success' as const) : ('failed' as const),
  attempt: row.attempt,
  next_retry_at: verdict.next,
  duration_ms: durationMs,
  created_at: at,
})

export type DeliverDeps = {
  store: Store
  clock: Clock
  jobs: Pick<Jobs, 'register' | 'ensure'>
  audit: Pick<AuditLog, 'recordUnattended'>
  events: Pick<EventBus, 'emit'>
  secrets: Secrets
  send: Send
}

type Payload = { id: WebhookId; owner: OwnerScope }

/** Maximum connections to one receiver. An owner has at most this number per parallel run (docs/promises.md I18). */
const AT_ONCE = 4
const RUNS = { steady: { concurrency: 64, concurrencyPerKey: 8 }, slow: { concurrency: 32, concurrencyPerKey: 4 } }
/** How long one run starts new deliveries before other runs get their turn. */
const TURN_MS = 500
const TIME_LIMIT_MS = 120_000
const BATCH = 64
const LONGEST_DELAY_MS = 30_000

/**
 * Delivers events. A webhook with waiting deliveries has one job, in one of two lanes. Receivers that keep failing have
 * their own lane and connections, so that they delay nobody else (docs/promises.md I18). A run sends the due deliveries
 * and returns when the next one is due.
 */
export function createDeliveries(deps: DeliverDeps) {
  const { store, clock, jobs, secrets, send } = deps
  const settle = createSettle(deps)
  const lanes = { steady: laneOf('steady'), slow: laneOf('slow') }
  for (const lane of Object.values(lanes)) jobs.register(lane)
  return { wake, settle }

  /** Ensures that this webhook's due deliveries are sent. */
  async function wake(tx: Tx, hook: Pick<WebhookRow, 'id' | 'owner' | 'lane'>, runAt?: number): Promise<void> {
    const { id, owner } = hook
    const payload: Payload = { id, owner }
    await jobs.ensure(tx, lanes[hook.lane], {
      owner,
      payload,
      uniqueKey: id,
      ...(runAt === undefined ? {} : { runAt }),
    })
  }

  function laneOf(lane: Lane): JobKind<Payload> {
    return defineJob<Payload>({
      name: `webhooks.${lane}`,
      run: (job) => run(job, lane),
      // Deliveries end by their schedule, never with their job.
      retry: {
        attempts: Number.MAX_SAFE_INTEGER,
        delayMs: (attempt) => Math.min(1_000 * 2 ** Math.min(attempt, 10), LONGEST_DELAY_MS),
      },
      timeLimitMs: TIME_LIMIT_MS,
      keepMs: 0,
      ...RUNS[lane],
      async onFailed(tx, { payload }) {
        const hook = await rows.byId(tx, payload.id)
        if (hook) await wake(tx, hook)
      },
    })
  }

  async function run(job: Running<Payload>, lane: Lane): Promise<Outcome<null>> {
    const { id } = job.payload
    const found = await rows.byId(store.read, id)
    if (!found) return clearAll(id, true)
    if (!found.enabled) return clearAll(id, false)
    if (found.listens_until !== null) return {}
    if (found.lane !== lane) return { effects: (tx) => wake(tx, found) }
    const hook = await sendDue(job, found)
    if (!hook?.enabled) return clearAll(id, !hook)
    const next = await outbox.soonest(store.read, id)
    if (next === null) return {}
    const wanted = laneFor(hook)
    // An ordered webhook waits for its oldest delivery, even if others are due.
    if (wanted === lane)
      return { again: { at: hook.ordered ? ((await outbox.first(store.read, hook.id))?.due_at ?? next) : next } }
    return {
      effects: async (tx) => {
        await rows.change(tx, hook, { lane: wanted })
        await wake(tx, { ...hook, lane: wanted }, next)
      },
    }
  }

  /** Drops the waiting deliveries of a disabled webhook, and of a deleted one also its log. */
  async function clearAll(id: WebhookId, isDeleted: boolean): Promise<Outcome<null>> {
    for (const rows of isDeleted ? [outbox, log] : [outbox])
      await inBatches((limit, from) => store.write((tx) => rows.clear(tx, id, limit, from)))
    return {}
  }

  /**
   * Sends due deliveries, several at once. Writes results while others run. A slower write makes the next batch larger.
   * Returns the webhook afterwards, null if it was deleted meanwhile.
   */
  async function sendDue(job: Running<Payload>, found: WebhookRow): Promise<WebhookRow | null> {
    let hook: WebhookRow | null = found
    let fault: unknown
    const until = clock.monotonic() + TURN_MS
    const atOnce = found.ordered || found.lane === 'slow' ? 1 : AT_ONCE
    const open = new Map<number, Promise<void>>()
    let ended: EndedDelivery[] = []
    let writing: Promise<void> | null = null
    /** Deliveries that were started but not yet written, so the store still lists them as due. */
    const held = new Set<number>()
    let waiting: OutboxRow[] = []
    let envelopes = new Map<EventId, string>()
    /** True if the last lookup found nothing due. A write resets it, because it may make deliveries due. */
    let isDry = false
    /** Number of unwritten failures. Written before more deliveries start, because they may end the webhook. */
    let failed = 0
    const mayBegin = (): boolean =>
      hook?.enabled === true &&
      laneFor(hook) === found.lane &&
      failed === 0 &&
      held.size < BATCH &&
      clock.monotonic() < until &&
      !job.signal.aborted &&
      fault === undefined

    const begin = (row: OutboxRow) => {
      held.add(row.seq)
      const sending = attempt(hook!, row, envelopes.get(row.event_id)).then(
        (one) => {
          ended.push(one)
          if (!one.verdict.ok) failed += 1
        },
        (error: unknown) => {
          fault ??= error
        },
      )
      open.set(
        row.seq,
        sending.then(() => void open.delete(row.seq)),
      )
    }
    const write = async (some: readonly EndedDelivery[]) => {
      try {
        hook = await job.write((tx) => settle(tx, found.id, some))
      } catch (error) {
        fault ??= error
      }
      for (const { row, verdict } of some) {
        held.delete(row.seq)
        if (!verdict.ok) failed -= 1
      }
      isDry = false
      writing = null
    }
    for (;;) {
      if (!waiting.length && !isDry && mayBegin()) {
        waiting = (await dueOf(hook!, BATCH + held.size)).filter(({ seq }) => !held.has(seq))
        isDry = !waiting.length
        const ids = waiting.map(({ event_id }) => event_id)
        envelopes = await eventRepository.envelopes(store.read, ids)
      }
      while (waiting.length && open.size < atOnce && mayBegin()) begin(waiting.shift()!)
      if (ended.length && !writing && fault === undefined) {
        writing = write(ended)
        ended = []
      }
      const pending = [...open.values(), ...(writing ? [writing] : [])]
      if (!pending.length) break
      await Promise.race(pending)
    }
    if (fault !== undefined) throw fault
    return hook
  }

  async function dueOf(hook: WebhookRow, limit: number): Promise<OutboxRow[]> {
    if (!hook.ordered) return outbox.due(store.read, hook.id, clock.now(), limit)
    const first = await outbox.first(store.read, hook.id)
    return first && first.due_at <= clock.now() ? [first] : []
  }

  async function attempt(hook: WebhookRow, row: OutboxRow, body: string | undefined): Promise<EndedDelivery> {
    const [startedAt, began] = [clock.now(), clock.monotonic()]
    // The event is older than the retention period, so its text is gone.
    if (body === undefined) {
      const verdict = { ok: false, message: 'event expired', next: null, gone: false }
      return { row, httpStatus: null, verdict, at: startedAt, durationMs: 0, sent: null }
    }
    const message = { id: row.event_id, body, ...secrets.of(hook, startedAt) }
    const { signature, ...tried } = await send({ url: hook.url, message, attempt: row.attempt })
    const sent = { bytes: Buffer.byteLength(body), signature, secret_version: hook.secret_version }
    return { row, ...tried, at: clock.now(), durationMs: Math.round(clock.monotonic() - began), sent }
  }
}

/**
 * Writes the results of attempts: the log, the next attempts and the webhook's state. A 410 or days of failures disable
 * the webhook. Returns the webhook as it is now, null if it was deleted meanwhile.
 */
export function createSettle({ audit, events }: Deps) {
  return async function settle(tx: Tx, id: WebhookId, ended: readonly EndedDelivery[]): Promise<WebhookRow | null> {
    const hook = await rows.lock(tx, id)
    if (!hook) return null
    await log.insert(
      tx,
      ended.map((one) => logRowOf(hook, one)),
    )
    const done = ended.filter(({ verdict }) => verdict.next === null)
    await outbox.remove(
      tx,
      done.map(({ row }) => row.seq),
    )
    for (const { row, verdict } of ended) {
      if (verdict.next !== null) await outbox.putOff(tx, row.seq, row.attempt + 1, verdict.next)
    }
    const after = { ...hook, ...countsAfter(hook, ended) }
    const reason = hook.enabled ? reasonToEnd(after, ended) : null
    const now: WebhookRow = reason ? { ...after, enabled: false, disabled_reason: reason } : after
    await rows.count(tx, id, now)
    if (reason) {
      await rows.change(tx, hook, { enabled: false, disabled_reason: reason })
      await tellDisabled(tx, now, reason)
    }
    return now
  }

  /** Records that the webhook was disabled, and notifies the owner through their other webhooks. */
  async function tellDisabled(tx: Tx, hook: WebhookRow, reason: 'auto' | 'gone'): Promise<void> {
    const { id, owner, url, failure_count, last_delivered_at } = hook
    await subscribe(tx, { owner, subscriber: 'webhook', target: id }, [])
    const about = { scope: owner, requestId: newRequestId() }
    const input = { metadata: { reason, failure_count } }
    await audit.recordUnattended(tx, about, {
      action: 'webhook.auto_disabled',
      entityType: 'webhook',
      entityId: id,
      input,
    })
    const data = { webhook_id: id, url, reason, failure_count, last_delivered_at: isoOrNull(last_delivered_at) }
    await events.emit(tx, webhookDisabled, owner, data)
  }
}

function countsAfter(hook: WebhookRow, ended: readonly EndedDelivery[]): Counts {
  const results = ended.map(({ verdict, at }) => ({ ok: verdict.ok, at }))
  const delivered = results.filter(({ ok }) => ok)
  return {
    ...streakAfter(hook, results),
    successes: hook.successes + delivered.length,
    failures: hook.failures + results.length - delivered.length,
    last_delivered_at: delivered.at(-1)?.at ?? hook.last_delivered_at,
  }
}

function reasonToEnd(hook: WebhookRow, ended: readonly EndedDelivery[]): 'gone' | 'auto' | null {
  if (ended.some(({ verdict }) => verdict.gone)) return 'gone'
  return hasFailedTooLong(hook, ended.at(-1)!.at) ? 'auto' : null
}

export type SendDeps = {
  outbound: Outbound
  clock: Clock
  /** Milliseconds before each attempt. */
  schedule: readonly number[]
  /** Random number from 0 to 1. */
  random(): number
}
type Input = { url: string; message: Omit<Signed, 'timestampS'>; attempt: number }

/** `signature` contains only the two ends of the signature. */
export type Sent = { httpStatus: number | null; verdict: Verdict; signature: string }

const TIMEOUT_MS = 15_000
/** Reads part of the answer only so that the receiver can finish it. The content is ignored. */
const MAX_ANSWER_BYTES = 64 * 1024

export type Send = ReturnType<typeof createSend>

/** Makes one attempt with a fresh signature, and judges its result (docs/api.md 14.3). */
export function createSend({ outbound, clock, schedule, random }: SendDeps) {
  return async ({ url, message, attempt }: Input): Promise<Sent> => {
    const signed = signatureHeaders({ ...message, timestampS: Math.floor(clock.now() / 1_000) })
    const answer = await post(outbound, url, { body: message.body, signed })
    const verdict = outcomeOf(answer, { attempt, schedule, now: clock.now(), random: random() })
    const signature = signed['svc-webhook-signature'] ?? ''
    return { httpStatus: answer.status, verdict, signature: `${signature.slice(0, 7)}…${signature.slice(-4)}` }
  }
}

type Message = { body: string; signed: Record<string, string> }

/** Sends the same bytes each time and follows no redirects. */
async function post(outbound: Outbound, url: string, { body, signed }: Message): Promise<Answer> {
  try {
    const { status, headers } = await outbound.fetchPublic(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'svc-webhooks/1',
        ...signed,
      },
      body,
      statusOnly: true,
      // Repeating is safe, because receivers may get a delivery twice anyway.
      repeatable: true,
      maxBytes: MAX_ANSWER_BYTES,
      timeoutMs: TIMEOUT_MS,
    })
    return { status, retryAfter: headers['retry-after'] ?? null, failure: null }
  } catch (error) {
    return { status: null, retryAfter: null, failure: failureOf(error, url) }
  }
}

function failureOf(error: unknown, url: string): Failure {
  if (error instanceof OutboundFailure)
    return error.kind === 'too-large' || error.kind === 'aborted' ? 'reset' : error.kind
  if (!(error instanceof AppError) || error.code !== 'url_blocked') throw error
  const parsed = URL.parse(url)
  return parsed && ipaddr.isValid(hostOf(parsed)) ? 'never_allowed' : 'not_allowed'
}
