import { assertPayload, type BusEventRow, eventRepository, type FanOut, subscribe } from '../events'
import { EventId } from '../events/schema'
import { type JobKind, recurring } from '../jobs'
import type { Call, Caller } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import type { Values } from '../kernel/config'
import { AppError, atField, defineErrors, notFound, quoted } from '../kernel/errors'
import { removeOld } from '../kernel/old-rows'
import { pageFields } from '../kernel/page'
import { readRange } from '../kernel/range'
import type { Store, Tx } from '../kernel/store'
import { newWebhookSecret, signatureHeaders } from '../kernel/webhook-signature'
import { type Change, createResource, type ResourceDeps } from '../resource'
import type { webhookSettings } from './config'
import {
  createDeliveries,
  createSend,
  type createSettle,
  type DeliverDeps,
  type EndedDelivery,
  type SendDeps,
} from './deliver'
import { presentDelivery, presentRead, presentStats } from './present'
import { deliveryRepository as log, outboxRepository as outbox, webhookRepository as rows } from './repository'
import { webhook } from './resource'
import { createSecrets, isOwnMachine, LISTEN, LISTEN_MS, readSchedule, type Secrets } from './rules'
import {
  type Deliveries,
  DeliveryId,
  type DeliveryQuery,
  type DeliveryRead,
  type Retried,
  type RetryFailed,
  type Rotated,
  type Rotation,
  type Taken,
  type Taking,
  type TestInput,
  type TestSent,
  type WebhookId,
  type WebhookStats,
} from './schema'
import { type OutboxRow, type WebhookRow, webhookDeliveries } from './table'

const webhookErrors = {
  ...defineErrors('conflict', {
    tooManyActive: (max: number) =>
      `This scope has ${max} enabled webhooks, which is the maximum here (SVC_MAX_ACTIVE_WEBHOOKS). Disable or delete one first.`,
    isDisabled: 'This webhook is disabled, so nothing is sent to it. PATCH it with {"enabled":true} first.',
    notListening:
      'This webhook has an address, so you cannot listen to it. To listen, POST a webhook with {"url":"listen:"}.',
    hasSucceeded: 'This delivery succeeded; only one that failed can be retried.',
    isGone: 'The event of this delivery is no longer stored, so it cannot be sent again.',
  }),
  ...defineErrors('url_blocked', {
    /** For a private address, often the first attempt. Names a way without a public address (docs/operating.md 6.3). */
    addressOfOwn: (url: string) =>
      `${quoted(url)} is private, but webhooks can only go to public addresses. To test on this machine run: svc-admin webhooks listen --forward-to ${quoted(url)}`,
  }),
}

/** docs/attacks.md J35. */
const tooManyTests = (max: number, retryAfterS: number) =>
  new AppError(
    'rate_limit_exceeded',
    `You can test a webhook at most ${max} times a minute. Try again in ${retryAfterS} seconds.`,
    { retryAfterS },
  )

type ListenDeps = {
  store: Store
  clock: Clock
  secrets: Secrets
  settle: ReturnType<typeof createSettle>
  /** Throws 404, 403. */
  findToChange(tx: Tx, caller: Caller, id: string): Promise<WebhookRow>
}

/** Maximum deliveries per answer. Each has 256 KB at most, and mostly up to 64 KB. */
const MAX = 16

const LOOK_EVERY_MS = 200

type Deps = Omit<DeliverDeps, 'store' | 'clock' | 'secrets' | 'send'> &
  Omit<SendDeps, 'clock' | 'schedule'> & {
    resources: ResourceDeps
    fanOut: FanOut
    masterKey: Uint8Array
    settings: Values<typeof webhookSettings> & { eventsRetentionDays: number }
  }

export type WebhookService = ReturnType<typeof createWebhooks>

const NOTE = 'Store the signing secret: it is shown only in this answer. Verify each delivery with it.'
const TEST_MESSAGE = 'This is a test from svc. Your webhook works.'
const SHOWN = 50
const RETRIES = { max: 10_000, everyMs: 100 }
const TESTS = { max: 10, everyMs: 60_000 }
const TIDY = { everyMs: 600_000, batch: 500, dayMs: 86_400_000 }

/** Webhooks: which address receives which events, and the results of the deliveries (docs/api.md 14). */
export function createWebhooks({ resources, fanOut, masterKey, settings, ...modules }: Deps) {
  const { store, clock, orgs } = resources
  const { outbound } = modules
  const secrets = createSecrets(masterKey)
  const send = createSend({ ...modules, clock, schedule: readSchedule(settings.webhookRetrySchedule) })
  const deliveries = createDeliveries({ ...modules, store, clock, secrets, send })
  fanOut.receive('webhook', receive)
  const webhooks = createResource(resources, webhook, {
    max: settings.maxWebhooks,
    async read({ url, event_types, description, ordered, ...sent }) {
      const listens = url === LISTEN
      if (url !== undefined && !listens) await assertCallable(url)
      const listening = url === undefined ? {} : { listens_until: listens ? clock.now() + LISTEN_MS : null }
      const enabled = 'enabled' in sent ? sent.enabled : undefined
      const state = enabled ? { disabled_reason: null, failure_count: 0, failing_since: null } : {}
      return { url, event_types, description, ordered, enabled, ...state, ...listening }
    },
    changed,
    async answer(tx, { verb, row, sent }) {
      if (verb === 'updated') return { updated: true }
      const secret = 'secret' in sent ? sent.secret : undefined
      const signing_secret = secret ?? newWebhookSecret()
      await rows.change(tx, row, { secret: secrets.seal(row.id, signing_secret) })
      return { signing_secret, _note: NOTE }
    },
  })
  const { take } = createListening({
    store,
    clock,
    secrets,
    settle: deliveries.settle,
    findToChange: (tx, caller, id) => webhooks.findToChange(tx, caller, id),
  })
  return { webhooks, send, test, take, listDeliveries, readDelivery, retry, retryFailed, rotate, stats, tidying }

  async function assertCallable(url: string): Promise<void> {
    try {
      await outbound.assertPublicUrl(url)
    } catch (error) {
      throw atField(isOwnMachine(url) ? webhookErrors.addressOfOwn(url) : (error as AppError), 'url')
    }
  }

  /** Updates the subscriptions and waiting deliveries after a change. Locks the owner to count enabled webhooks. */
  async function changed(tx: Tx, { verb, row, before }: Change<typeof webhook>): Promise<void> {
    if (verb !== 'created' && verb !== 'updated' && verb !== 'deleted') return
    const { id, owner, enabled } = row
    const isOn = verb !== 'deleted' && enabled
    await subscribe(tx, { owner, subscriber: 'webhook', target: id }, isOn ? row.event_types : [])
    if (isOn && !before?.enabled) {
      await orgs.lockOwner(tx, { userId: row.user_id, orgId: row.org_id })
      const { maxActiveWebhooks: max } = settings
      if ((await rows.countEnabled(tx, owner)) > max) throw webhookErrors.tooManyActive(max)
    }
    const hasAddressNow = before?.listens_until != null && row.listens_until === null
    if (verb === 'deleted' || hasAddressNow || (before?.enabled && !enabled)) await deliveries.wake(tx, row)
  }

  /** Runs in the commit of an event and stores its deliveries with it (docs/promises.md I17). */
  async function receive(tx: Tx, event: BusEventRow, targets: readonly string[]): Promise<void> {
    for (const hook of await rows.enabled(tx, event.owner, targets as WebhookId[])) {
      if (hook.listens_until === null || hook.listens_until > clock.now()) await line(tx, hook, event)
    }
  }

  async function line(
    tx: Tx,
    hook: Pick<WebhookRow, 'id' | 'owner' | 'lane' | 'listens_until'>,
    event: Pick<BusEventRow, 'id' | 'type'>,
    attempt = 1,
  ): Promise<void> {
    const now = clock.now()
    const due = { webhook_id: hook.id, event_id: event.id, event_type: event.type, attempt, due_at: now }
    await outbox.insert(tx, due)
    if (hook.listens_until === null) await deliveries.wake(tx, hook, now)
  }

  /**
   * Sends `completion.created` with test data, or the requested event, regardless of subscriptions. Throws 409 when
   * disabled, 413 for large data, 429 for too many.
   */
  function test(call: Call<Caller>, id: string, input: NonNullable<TestInput> = {}): Promise<TestSent> {
    const { event_type: type = 'completion.created', data: wanted } = input
    const data = { ...(wanted ?? { message: TEST_MESSAGE }), _test: true }
    assertPayload(data, 'data')
    return changing(call, id, async (tx, row) => {
      if (!row.enabled) throw webhookErrors.isDisabled()
      const now = clock.now()
      const isNew = now - row.tests_since >= TESTS.everyMs
      const waitS = Math.ceil((row.tests_since + TESTS.everyMs - now) / 1_000)
      if (!isNew && row.tests >= TESTS.max) throw tooManyTests(TESTS.max, waitS)
      await rows.change(tx, row, isNew ? { tests: 1, tests_since: now } : { tests: row.tests + 1 })
      const event_id = EventId.create()
      const envelope = JSON.stringify({ id: event_id, type, created: iso(now), data })
      const about = { entityType: 'webhook', entityId: row.id, scope: row.owner }
      await resources.audit.record(tx, call, { action: 'webhook.tested', ...about })
      const event = { id: event_id, owner: row.owner, type, envelope, source: null, depth: 0, created_at: now }
      await eventRepository.insert(tx, event)
      await line(tx, row, event)
      return { sent: true, event_id }
    })
  }

  /** Attempts, newest first. Default: fifty per page. */
  async function listDeliveries({ caller }: Call<Caller>, id: string, query: DeliveryQuery = {}): Promise<Deliveries> {
    const row = await webhooks.find(store.read, caller, id)
    const { from, to, limit = SHOWN, ...wanted } = query
    const page = await log.list(store.read, row.id, { ...wanted, ...readRange({ from, to }), limit })
    return { deliveries: page.items.map(presentDelivery), ...pageFields(page) }
  }

  /** One attempt with the request that was sent. Records the reader, because bodies belong to the owner. Throws 404. */
  function readDelivery(call: Call<Caller>, id: string, deliveryId: string): Promise<DeliveryRead> {
    return store.write(async (tx) => {
      const row = await webhooks.find(tx, call.caller, id)
      const found = DeliveryId.is(deliveryId) ? await log.find(tx, row.id, deliveryId) : undefined
      if (!found) throw notFound('delivery')
      const { event_id } = found
      const body = (await eventRepository.envelopes(tx, [event_id])).get(event_id) ?? null
      const about = { entityType: 'webhook', entityId: row.id, scope: row.owner, input: { metadata: { event_id } } }
      await resources.audit.record(tx, call, { action: 'webhook.delivery_read', ...about })
      return presentRead(row, found, body)
    })
  }

  /** Sends an event again: the stored bytes to the current address. Throws 404, 409. */
  function retry(call: Call<Caller>, id: string, deliveryId: string): Promise<Retried> {
    return changing(call, id, async (tx, row) => {
      const found = DeliveryId.is(deliveryId) ? await log.find(tx, row.id, deliveryId) : undefined
      if (!found) throw notFound('delivery')
      if (found.status === 'success') throw webhookErrors.hasSucceeded()
      if (!row.enabled) throw webhookErrors.isDisabled()
      const { event_id, event_type, attempt } = found
      if (!(await eventRepository.envelopes(tx, [event_id])).size) throw webhookErrors.isGone()
      const about = { entityType: 'webhook', entityId: row.id, scope: row.owner, input: { metadata: { event_id } } }
      await resources.audit.record(tx, call, { action: 'webhook.delivery_retried', ...about })
      if (await outbox.hasten(tx, row.id, event_id, clock.now())) await deliveries.wake(tx, row)
      else await line(tx, row, { id: event_id, type: event_type }, attempt + 1)
      return { retried: true, delivery_id: found.id }
    })
  }

  /** Sends abandoned events of a period again, spread so that the receiver is not flooded. Throws 400, 404, 409. */
  function retryFailed(call: Call<Caller>, id: string, input: RetryFailed): Promise<{ queued: number }> {
    const range = readRange(input)
    return changing(call, id, async (tx, row) => {
      if (!row.enabled) throw webhookErrors.isDisabled()
      const found = await log.givenUp(tx, row.id, range, RETRIES.max)
      const now = clock.now()
      const queued = await outbox.insertMany(
        tx,
        found.map(({ attempt, ...event }, at) => ({
          ...event,
          ...{ webhook_id: row.id, attempt: attempt + 1, due_at: now + at * RETRIES.everyMs },
        })),
      )
      const about = { entityType: 'webhook', entityId: row.id, scope: row.owner, input: { metadata: { queued } } }
      await resources.audit.record(tx, call, { action: 'webhook.failed_retried', ...about })
      if (queued && row.listens_until === null) await deliveries.wake(tx, row, now)
      return { queued }
    })
  }

  /** Creates a new secret. Without grace, the old one stops signing at once. */
  function rotate(
    call: Call<Caller>,
    id: string,
    { grace_seconds: grace = 0 }: NonNullable<Rotation> = {},
  ): Promise<Rotated> {
    return changing(call, id, async (tx, row) => {
      const signing_secret = newWebhookSecret()
      const previous = grace
        ? { previous_secret: row.secret, previous_until: clock.now() + grace * 1_000 }
        : NO_PREVIOUS
      const secret_version = row.secret_version + 1
      await rows.change(tx, row, { secret: secrets.seal(row.id, signing_secret), secret_version, ...previous })
      const about = { entityType: 'webhook', entityId: row.id, scope: row.owner }
      await resources.audit.record(tx, call, { action: 'webhook.secret_rotated', ...about })
      return { id: row.id, signing_secret, _note: NOTE }
    })
  }

  async function stats({ caller }: Call<Caller>, id: string): Promise<WebhookStats> {
    const row = await webhooks.find(store.read, caller, id)
    return presentStats(row, await outbox.count(store.read, row.id))
  }

  /** Runs a change in one transaction, with the webhook locked, and stores the answer. Throws 404, 403. */
  function changing<T>(call: Call<Caller>, id: string, change: (tx: Tx, row: WebhookRow) => Promise<T>): Promise<T> {
    return store.write(async (tx) => {
      const row = await webhooks.findToChange(tx, call.caller, id)
      return resources.storeAnswer(tx, call, await change(tx, row))
    })
  }

  /** Removes the webhook. Its job then drops its waiting deliveries and its log. */
  async function forsake(tx: Tx, row: WebhookRow): Promise<void> {
    const now = await rows.lock(tx, row.id)
    if (!now || now.listens_until === null || now.listens_until > clock.now()) return
    await subscribe(tx, { owner: row.owner, subscriber: 'webhook', target: row.id }, [])
    await rows.remove(tx, row)
    await deliveries.wake(tx, row)
  }

  /** Job that deletes log rows beyond the retention period, and webhooks that no one listens to any more. */
  function tidying(): JobKind<null> {
    return recurring('webhooks.tidy', TIDY.everyMs, async () => {
      for (const row of await rows.forsaken(store.read, clock.now(), TIDY.batch))
        await store.write((tx) => forsake(tx, row))
      const before = clock.now() - settings.eventsRetentionDays * TIDY.dayMs
      await removeOld(store, { table: webhookDeliveries, key: 'id', at: 'created_at' }, before)
    })
  }
}

const NO_PREVIOUS = { previous_secret: null, previous_until: null }

/**
 * Webhooks without an address. A listener takes their deliveries over its own connection. Such a webhook ends some time
 * after the last request.
 */
function createListening({ store, clock, secrets, settle, findToChange }: ListenDeps) {
  return { take }

  /** Stores the results of earlier deliveries, and waits for more. Throws 404, 409 when the webhook has an address. */
  async function take(call: Call<Caller>, id: string, { done = [], wait_seconds = 0 }: NonNullable<Taking> = {}) {
    const hook = await store.write(async (tx) => {
      const row = await findToChange(tx, call.caller, id)
      if (row.listens_until === null) throw webhookErrors.notListening()
      await rows.change(tx, row, { listens_until: clock.now() + LISTEN_MS })
      const ended = await endedOf(tx, row.id, done)
      if (ended.length) await settle(tx, row.id, ended)
      return row
    })
    const until = clock.monotonic() + wait_seconds * 1_000
    for (;;) {
      const due = await outbox.due(store.read, hook.id, clock.now(), MAX)
      const remainingMs = until - clock.monotonic()
      if (due.length || remainingMs <= 0 || call.signal.aborted) return { deliveries: await signed(hook, due) }
      await clock.sleep(Math.min(LOOK_EVERY_MS, remainingMs), call.signal)
    }
  }

  /** Ignores deliveries that no longer wait, because their result was reported before. */
  async function endedOf(
    tx: Tx,
    id: WebhookId,
    done: NonNullable<NonNullable<Taking>['done']>,
  ): Promise<EndedDelivery[]> {
    const reported = new Map(done.map((one) => [one.event_id as EventId, one]))
    const now = clock.now()
    return (await outbox.some(tx, id, [...reported.keys()])).map((row) => {
      const { http_status: httpStatus = null, duration_ms: durationMs = 0 } = reported.get(row.event_id)!
      const ok = httpStatus === null || (httpStatus >= 200 && httpStatus < 300)
      const message = ok ? null : `http_${Math.floor(httpStatus / 100)}xx`
      return { row, httpStatus, verdict: { ok, message, next: null, gone: false }, at: now, durationMs, sent: null }
    })
  }

  async function signed(hook: WebhookRow, due: readonly OutboxRow[]): Promise<Taken['deliveries']> {
    const bodies = await eventRepository.envelopes(
      store.read,
      due.map(({ event_id }) => event_id),
    )
    const now = clock.now()
    const secret = secrets.of(hook, now)
    return due.flatMap(({ event_id, event_type }) => {
      const body = bodies.get(event_id)
      if (body === undefined) return []
      const headers = signatureHeaders({ id: event_id, body, timestampS: Math.floor(now / 1_000), ...secret })
      return [{ event_id, event_type, headers, body }]
    })
  }
}
