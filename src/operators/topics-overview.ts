import { capsOfDay } from '../billing'
import { sessionSums } from '../browser'
import type { Traffic } from '../cluster'
import { jobSums } from '../jobs'
import type { Call, OperatorCaller } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import type { Store } from '../kernel/store'
import type { LimitIncreases } from '../limits'
import type { SkillService } from '../skills'
import { usageOfAllOwners } from '../usage'
import { deliverySums } from '../webhooks'
import { openChats } from '../widgets'
import type { Health, Status } from './status-schema'
import { cachedRead, type Names } from './topics-reading'

type Deps = {
  store: Store
  clock: Clock
  names: Names
  traffic: Traffic
  skills: SkillService
  increases: LimitIncreases
  settings: { browserSessions: number; browserSessionMaxSeconds: number }
  status(call: Call<OperatorCaller>): Promise<Status>
  health(): Promise<Pick<Health, 'providers' | 'infrastructure'>>
}

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** What needs a person's attention, and the state of the server (docs/operating.md 3.5). */
export function overviewTopic(deps: Deps, call: Call<OperatorCaller>) {
  const { store, clock, traffic, settings, names } = deps
  const { read } = store
  const sums = {
    queue: source('queue', 2_000, () => jobSums(read, clock.now() - HOUR_MS)),
    delivery: source('deliveries', 5_000, () => deliverySums(read, clock.now() - HOUR_MS)),
    browser: source('browser', 5_000, () => sessionSums(read, clock.now() - DAY_MS, clock.now())),
    spend: source('spend', 15_000, async () => {
      const now = clock.now()
      const [{ owners, ...rest }, caps] = await Promise.all([usageOfAllOwners(read, now), capsOfDay(read, now)])
      const named = owners.map(async ({ owner, cost_cents }) => ({ owner: await names.owner(owner), cost_cents }))
      return { ...rest, ...caps, owners: await Promise.all(named) }
    }),
    status: source('status', 5_000, () => deps.status(call)),
    probes: source('engines', 5_000, deps.health),
    reviews: source('submissions', 2_000, () => deps.skills.operator.stats(call)),
    increases: source('tier requests', 5_000, () =>
      deps.increases.operator.list(call, { limit: 100, status: 'pending' }),
    ),
    chats: source('visitors', 500, () => openChats(read)),
  }

  return async () => {
    const failing = new Set<string>()
    traffic.watch()
    const [queue, delivery, browser, spend, status, probes] = await Promise.all([
      sums.queue(failing),
      sums.delivery(failing),
      sums.browser(failing),
      sums.spend(failing),
      sums.status(failing),
      sums.probes(failing),
    ])
    const { now: _now, ...state } = status
    const waiting = await needs(failing)
    return {
      facts: {
        status: state,
        providers: probes.providers,
        infrastructure: probes.infrastructure,
        traffic: traffic.summary(),
        queue,
        delivery,
        browser: {
          ...browser,
          slots: settings.browserSessions,
          cap_ms: settings.browserSessionMaxSeconds * 1_000,
          // Omitted, because a running duration would change every second.
          ms: undefined,
        },
        spend,
        needs: waiting,
        failing: [...failing].sort(),
      },
      rows: [],
    }
  }

  /** Reads a source at most once in this time. If a read fails, returns the last value and names it in `failing`. */
  function source<T>(name: string, everyMs: number, find: () => Promise<T>) {
    const fresh = cachedRead(clock, everyMs, find)
    let last: { value: T } | null = null
    return async (failing: Set<string>): Promise<T> => {
      try {
        last = { value: await fresh() }
      } catch (error) {
        if (!last) throw error
        failing.add(name)
      }
      return last.value
    }
  }

  /** Most urgent kind first: a waiting visitor precedes a waiting review. */
  async function needs(failing: Set<string>) {
    const [{ chats }, reviews, increases, { off }] = await Promise.all([
      sums.chats(failing),
      sums.reviews(failing),
      sums.increases(failing),
      sums.delivery(failing),
    ])
    const waiting = chats.filter(({ takeover_status }) => takeover_status === 'requested')
    const tiers = reviews.tiers.filter(({ waiting }) => waiting > 0)
    const [first] = increases.items
    const oldestReview = Math.max(0, ...tiers.map(({ oldest_waiting_s }) => oldest_waiting_s ?? 0))
    return [
      {
        kind: 'visitors',
        count: waiting.length,
        about: [...new Set(waiting.map(({ widget }) => widget))].join(', '),
        since: waiting.length ? iso(Math.min(...waiting.map(({ since }) => since))) : null,
      },
      {
        kind: 'submissions',
        count: tiers.reduce((sum, { waiting }) => sum + waiting, 0),
        about: tiers.map(({ tier, waiting }) => `${waiting} ${tier}`).join(', '),
        // Rounded to minutes, because the exact age grows with each read.
        since: oldestReview ? iso(Math.floor((clock.now() - oldestReview * 1_000) / 60_000) * 60_000) : null,
      },
      {
        kind: 'webhooks',
        count: off.length,
        about: off.map(({ url }) => URL.parse(url)?.host ?? url).join(', '),
        // The number of failures after which the first of them was disabled.
        failures: off[0]?.failures ?? 0,
        since: off.map(({ at }) => at).sort()[0] ?? null,
      },
      {
        kind: 'increases',
        count: increases.items.length,
        about: first ? `key ${(await names.key(call, first.key_id)) ?? 'of a person'} to ${first.requested_tier}` : '',
        since: increases.items.map(({ created }) => created).sort()[0] ?? null,
      },
    ].filter(({ count }) => count > 0)
  }
}
