import { LRUCache } from 'lru-cache'
import type { KeyService } from '../accounts'
import { type AuditReading, newestEvents } from '../audit'
import { openSessions, sessionSums } from '../browser'
import type { Traffic } from '../cluster'
import { newestJobs, payloadsOf } from '../jobs'
import type { JobId } from '../jobs/schema'
import type { Call, OperatorCaller } from '../kernel/caller'
import { type Clock, iso, isoOrNull } from '../kernel/clock'
import { microToCents } from '../kernel/money'
import type { Store } from '../kernel/store'
import { beginningOf } from '../kernel/text'
import type { LimitIncreases, RateLimiter } from '../limits'
import type { Increase } from '../limits/schema'
import type { SkillService } from '../skills'
import { newestDeliveries } from '../webhooks'
import { chatSums, openChats, wordsOfWidgets } from '../widgets'
import { cachedRead, type Names } from './topics-reading'

type Deps = {
  store: Store
  clock: Clock
  names: Names
  traffic: Traffic
  skills: SkillService
  keys: KeyService
  limiter: RateLimiter
  increases: LimitIncreases
  auditReading: Pick<AuditReading, 'signedAt'>
  /** Memory of the pages of this process's browser sessions, in MB. Null if unknown. */
  pageMegabytes(): number | null
  /** Whether the visitor of this chat is typing. */
  writes(sessionId: string): boolean
  settings: { browserSessions: number; browserSessionMaxSeconds: number; browserSessionIdleSeconds: number }
}
type By = Call<OperatorCaller>

const MAX = 200
const MAX_INCREASES = 100
const MAX_LINES = 500
const DAY_MS = 86_400_000
const BEGINNING = 200

/** The displayed part of a job's request. */
type Input = {
  key: string | null
  request_id: string | null
  text: string
  chars: number
  /** The parameters besides the text: `depth advanced, max_sources 20`. */
  asked: string
  hold_micro: number | null
}

/** Jobs with their payer and request. Results are read individually. */
export function jobsTopic({ store, names }: Deps, call: By) {
  const orders = new LRUCache<string, Input>({ max: 4_000 })
  return async (max: number = MAX) => {
    const jobs = await newestJobs(store.read, max)
    const unknown = jobs.filter(({ id }) => !orders.has(id)).map(({ id }) => id)
    for (const { id, payload } of await payloadsOf(store.read, unknown as JobId[])) orders.set(id, inputOf(payload))
    const line = jobs.filter(({ status }) => status === 'queued').sort((a, b) => (a.turn ?? 0) - (b.turn ?? 0))
    const places = new Map(line.map(({ id }, at) => [id, at + 1]))
    const rows = jobs.map(async ({ turn: _turn, ...job }) => {
      const input = orders.get(job.id) ?? inputOf(null)
      const owner = await names.owner(job.owner)
      return {
        ...job,
        ...input,
        owner,
        key: (await names.key(call, input.key)) ?? null,
        place: places.get(job.id) ?? null,
      }
    })
    return { facts: {}, rows: await Promise.all(rows) }
  }
}

function inputOf(payload: unknown): Input {
  const { payer, requestId, input, hold } = (payload ?? {}) as {
    payer?: { keyId?: string | null }
    requestId?: string
    input?: Record<string, unknown> | null
    hold?: { amount?: number } | null
  }
  const text = String(input?.query ?? input?.prompt ?? '')
  return {
    key: payer?.keyId ?? null,
    request_id: requestId ?? null,
    text: beginningOf(text, BEGINNING),
    chars: text.length,
    asked: wishesOf(input ?? {}),
    hold_micro: hold?.amount ?? null,
  }
}

/** Short members of a request, as text. */
const wishesOf = (input: Record<string, unknown>): string =>
  Object.entries(input)
    .filter(
      ([name, value]) =>
        name !== 'query' &&
        name !== 'prompt' &&
        (typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && value.length <= 24)),
    )
    .map(([name, value]) => `${name} ${value}`)
    .slice(0, 4)
    .join(', ')

export function deliveriesTopic({ store, names }: Deps) {
  return async (max: number = MAX) => {
    const rows = (await newestDeliveries(store.read, max)).map(async ({ webhook, ...one }) => ({
      ...one,
      webhook: { ...webhook, owner: await names.owner(webhook.owner) },
    }))
    return { facts: {}, rows: await Promise.all(rows) }
  }
}

export function takeoversTopic({ store, clock, names, writes }: Deps, call: By) {
  const sums = cachedRead(clock, 15_000, () => chatSums(store.read, clock.now() - (clock.now() % DAY_MS)))
  const words = cachedRead(clock, 15_000, () => wordsOfWidgets(store.read))
  return async () => {
    const [{ chats, with_ai }, today, asks] = await Promise.all([openChats(store.read), sums(), words()])
    const rows = chats.map(
      async ({ cost_micro, created_at, since, changed_at, last_message_at, back_at, left_at, key_id, ...chat }) => ({
        ...chat,
        key: await names.key(call, key_id),
        back_at: isoOrNull(back_at),
        left_at: isoOrNull(left_at),
        cost_cents: microToCents(cost_micro),
        created_at: iso(created_at),
        since: iso(since),
        changed_at: iso(changed_at),
        typing: writes(chat.id),
        last_message_at: iso(last_message_at),
      }),
    )
    return { facts: { with_ai, today, asks }, rows: await Promise.all(rows) }
  }
}

/** Pending submissions, and the latest decisions. */
export function submissionsTopic({ skills, names }: Deps, call: By) {
  return async () => {
    const [waiting, all] = await Promise.all([
      skills.operator.list(call, { limit: 100, status: 'pending_review' }),
      skills.operator.list(call, { limit: 50 }),
    ])
    const decided = all.items.filter(({ status }) => status !== 'pending_review')
    const rows = [...waiting.items, ...decided].map(async (one) => ({ ...one, author: await names.owner(one.owner) }))
    return { facts: {}, rows: await Promise.all(rows) }
  }
}

export function browserTopic({ store, clock, names, settings, pageMegabytes }: Deps, call: By) {
  return async () => {
    const now = clock.now()
    const [open, sums] = await Promise.all([
      openSessions(store.read),
      sessionSums(store.read, now - (now % DAY_MS), now),
    ])
    const rows = open.map(async ({ key_id, owner, ...session }) => ({
      ...session,
      owner: await names.owner(owner),
      key: await names.key(call, key_id),
    }))
    return {
      facts: {
        slots: settings.browserSessions,
        cap_s: settings.browserSessionMaxSeconds,
        idle_s: settings.browserSessionIdleSeconds,
        // Rounded to steps, because the exact value changes with each read.
        memory_mb: stepped(pageMegabytes()),
        // Rounded to minutes, because the exact value grows with each read.
        today_minutes: Math.floor(sums.ms / 60_000),
        today_cents: sums.cost_cents,
      },
      rows: await Promise.all(rows),
    }
  }
}

const MB_STEP = 16
const stepped = (mb: number | null): number | null => (mb === null ? null : Math.ceil(mb / MB_STEP) * MB_STEP)

export function keysTopic({ clock, names, keys, limiter, increases }: Deps, call: By) {
  const total = cachedRead(clock, 15_000, () => keys.count(call))
  return async (max: number = MAX) => {
    const [found, request] = await Promise.all([
      keys.newest(call, max),
      increases.operator.list(call, { limit: MAX_INCREASES, status: 'pending' }),
    ])
    const requestedOf = new Map(request.items.map((one) => [one.key_id, one]))
    const rows = found.map(async ({ key, caller }) => {
      const { usage, limits, mode_limits } = await limiter.status(caller)
      const used = (now: { limit: number; remaining: number }) => now.limit - now.remaining
      return {
        ...key,
        brand_soul: undefined,
        routing_rules: undefined,
        owner: (await names.owner(key.org_id ? `org:${key.org_id}` : null)) ?? 'personal',
        rpm: { used: used(usage.requests), limit: limits.rpm },
        tpm: { used: used(usage.tokens), limit: limits.tpm },
        modes: mode_limits,
        policy: await names.policy(call, key.guardrail_policy_id),
        preference: await names.preference(call, key.routing_preference_id),
        asked: requestedFor(requestedOf.get(key.id)),
      }
    })
    return { facts: { total: await total() }, rows: await Promise.all(rows) }
  }
}

/** The displayed part of a request for a higher tier. */
const requestedFor = (one: Increase | undefined) =>
  one ? { id: one.id, tier: one.requested_tier, why: beginningOf(one.use_case, BEGINNING), at: one.created } : null

export function auditTopic({ store, names, auditReading }: Deps, call: By) {
  return async (max: number = MAX) => {
    const { events, chains } = await newestEvents(store.read, max)
    const rows = events.map(async (event) => ({
      ...event,
      key: await names.key(call, event.apiKeyId),
      owner: await names.owner(event.scope),
    }))
    const signed = chains.map(async (one) => ({ ...one, signed_at: await auditReading.signedAt(one.scope) }))
    return { facts: { chains: await Promise.all(signed) }, rows: await Promise.all(rows) }
  }
}

export function logsTopic({ traffic, names }: Deps, call: By) {
  return async (max: number = MAX_LINES) => {
    traffic.watch()
    const rows = traffic.newest(max).map(async (line) => ({ ...line, key: await names.key(call, line.key) }))
    return { facts: {}, rows: await Promise.all(rows) }
  }
}
