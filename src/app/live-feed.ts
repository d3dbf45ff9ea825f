import { mayDo, teamOf } from '../accounts'
import { listSessions } from '../browser'
import { waitingAmong } from '../jobs'
import { type Call, ownerOf } from '../kernel/caller'
import { iso, isoOrNull } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { SHARED_MS } from '../kernel/shared-reads'
import type { Feed, Need, SearchResults } from '../pages/routes-live'
import type { AnyNoun } from '../resource'
import { CHAT_KIND, listTakeovers } from '../widgets'
import type { Container } from './container'

const MAX = 50
/** Number of webhooks and workflows whose newest deliveries and runs are shown. */
const PARENTS = 20
const ALL = 100
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Sums exist for periods that begin with one of these, so that nobody counts single calls. */
const SLOT_MS = HOUR_MS / 12
const EXPIRES_WITHIN_MS = 7 * DAY_MS
const PACE_DAYS = 7
const ENOUGH_DAYS = 3

/** The data of `GET /live` and `GET /needs` from the modules, limited to what the caller may see. */
export function createFeed(container: Container): Feed {
  const { authenticate, clock, usageReading, publicJobs, webhooks, workflows, browser, widgets } = container
  return {
    ...{ clock, authenticate, ...usageReading.looks },
    needs: (call, maxAgeMs) => needsOf(container, call, maxAgeMs),
    search: (call, word) => searchIn(container, call, word),
    topics: {
      takeovers: async (call) => {
        const all = await widgets.all(call)
        const { takeovers } = await listTakeovers(widgets.deps, call, all, { state: 'all', limit: MAX })
        return { rows: takeovers.map((chat) => ({ ...chat, id: chat.session_id })) }
      },
      jobs: async (call) => ({ rows: (await publicJobs.list(call, { limit: MAX })).jobs }),
      runs: async (call) => {
        const { items } = await workflows.workflows.list(call, { limit: PARENTS })
        const runs = items.map(async ({ id, name }) => {
          const page = await workflows.listRuns(call, id, { limit: 10 })
          return page.runs.map(({ stepResults: _, output: __, ...run }) => ({ ...run, workflow_name: name }))
        })
        return { rows: newest((await Promise.all(runs)).flat(), ({ startedAt }) => startedAt) }
      },
      deliveries: async (call) => {
        const { items } = await webhooks.webhooks.list(call, { limit: PARENTS })
        const lists = items.map(async ({ id, url }) =>
          (await webhooks.listDeliveries(call, id)).deliveries.map((one) => ({ ...one, webhook_id: id, url })),
        )
        return { rows: newest((await Promise.all(lists)).flat(), ({ created_at }) => created_at) }
      },
      browser: async (call) => ({
        rows: (await listSessions(browser.deps, call)).sessions.map((session) => ({ ...session })),
      }),
      usage: async (call) => {
        const from = iso(clock.now() - (clock.now() % SLOT_MS) - DAY_MS)
        const { totals, balance, spending } = await usageReading.report(call, { from }, SHARED_MS)
        return { rows: [], facts: { totals, balance, spending } }
      },
    },
  }
}

const newest = <Row>(rows: Row[], momentOf: (row: Row) => string): Row[] =>
  rows.sort((a, b) => momentOf(b).localeCompare(momentOf(a))).slice(0, MAX)

type NewNeed = Omit<Need, 'count' | 'since' | 'id'> & Partial<Need>

/** Collects what waits for a person's action. A list that the caller may not see adds nothing. */
async function needsOf(
  { store, clock, orgs, keys, webhooks, hooks, usageReading }: Container,
  call: Call,
  maxAgeMs: number,
): Promise<Need[]> {
  const { caller } = call
  const now = clock.now()
  const owners = [...new Set([ownerOf(caller), teamOf(caller)])]
  const role = caller.activeOrgId === null ? null : await orgs.roleOf(store.read, caller.activeOrgId, caller.userId)
  // Whole hours are read from sums alone.
  const from = iso(now - (now % HOUR_MS) - PACE_DAYS * DAY_MS)
  const seesMoney = caller.activeOrgId === null || mayDo(role, 'viewUsage')
  const lists = [
    waitingAmong(store.read, owners).then((waiting) =>
      waiting.map(({ kind, count, since }): NewNeed => {
        const isChat = kind === CHAT_KIND
        const text = isChat
          ? `${count} visitor${count > 1 ? 's wait' : ' waits'} for a person`
          : `${count} approval${count > 1 ? 's wait' : ' waits'}`
        const section = isChat ? 'inbox' : 'workflows'
        return {
          kind: isChat ? 'visitor_waiting' : 'approval_waiting',
          severity: 'now',
          text,
          count,
          since: isoOrNull(since),
          section,
        }
      }),
    ),
    webhooks.webhooks.list(call, { limit: ALL }).then(({ items }) =>
      items.flatMap(({ id, url, enabled, disabled_reason, failure_count }): NewNeed[] => {
        const about = { section: 'webhooks', id, severity: 'now' } as const
        if (!enabled && disabled_reason) return [{ ...about, kind: 'endpoint_off', text: `${url} was switched off` }]
        return enabled && failure_count >= FAILING
          ? [{ ...about, kind: 'endpoint_failing', text: `${url} has failed ${failure_count} times in a row` }]
          : []
      }),
    ),
    hooks.hooks.list(call, { limit: ALL }).then(({ items }) =>
      items
        .filter(({ enabled, disabled_reason }) => !enabled && disabled_reason)
        .map(
          ({ id, name }): NewNeed => ({
            ...{ kind: 'hook_paused', severity: 'soon', section: 'workflows' },
            id,
            text: `The hook ${name} is paused after failures`,
          }),
        ),
    ),
    keys.list(call, { limit: ALL }).then(({ items }) => items.flatMap((key) => needsOfKey(key, now))),
    ...(seesMoney ? [usageReading.report(call, { from }, maxAgeMs).then(needsOfMoney)] : []),
  ]
  const found = await Promise.all(lists.map((list) => list.catch(noneIfForbidden)))
  return found
    .flat()
    .map((need) => ({ count: 1, since: null, id: null, ...need }))
    .sort((a, b) => a.severity.localeCompare(b.severity))
}

const FAILING = 3

type Key = Awaited<ReturnType<Container['keys']['list']>>['items'][number]

function needsOfKey({ id, name, status, expires_at, ...key }: Key, now: number): NewNeed[] {
  if (status !== 'active') return []
  const needs = [
    capNeed(`The key ${name}`, key.daily_cap_cents, key.spent_today_cents, 'today'),
    capNeed(`The key ${name}`, key.monthly_cap_cents, key.spent_month_cents, 'this month'),
  ].flat()
  if (expires_at !== null && Date.parse(expires_at) - now < EXPIRES_WITHIN_MS)
    needs.push({
      kind: 'key_expiring',
      severity: 'soon',
      section: 'keys',
      text: `The key ${name} expires on ${expires_at.slice(0, 10)}`,
    })
  return needs.map((need) => ({ ...need, section: 'keys', id }))
}

function capNeed(what: string, cap: number | null, used: number, when: string): NewNeed[] {
  if (cap === null || used < 0.8 * cap) return []
  const isReached = used >= cap
  const share = `${Math.floor((100 * used) / cap)} % of its cap ${when}`
  return [
    {
      kind: isReached ? 'cap_reached' : 'cap_near',
      severity: isReached ? 'now' : 'soon',
      section: 'billing',
      text: `${what} has spent ${share}`,
    },
  ]
}

type Report = Awaited<ReturnType<Container['usageReading']['report']>>

function needsOfMoney({ spending, balance, totals }: Report): NewNeed[] {
  const caps = [
    capNeed('The account', spending.daily_cap_cents, spending.daily_used_cents, 'today'),
    capNeed('The account', spending.monthly_cap_cents, spending.monthly_used_cents, 'this month'),
  ].flat()
  const aDay = totals.cost_cents / PACE_DAYS
  const days = aDay > 0 ? balance.balance_cents / aDay : Number.POSITIVE_INFINITY
  if (days >= ENOUGH_DAYS) return caps
  const text = `Credit lasts for ${days < 1 ? 'less than a day' : `${Math.floor(days)} days`} at the present pace`
  return [...caps, { kind: 'credit_low', severity: days < 1 ? 'now' : 'soon', section: 'billing', text }]
}

const MAX_FOUND = 20
/** Section of the console that shows a search result, by its kind. */
const SECTIONS: Record<string, string> = {
  ...{ api_key: 'keys', request: 'requests', workflow: 'workflows', canvas: 'workflows', hook: 'workflows' },
  ...{ guardrail_policy: 'guardrails', routing_preference: 'routing', webhook: 'webhooks', iframe: 'widgets' },
  test_case: 'playground',
}

/** Searches keys, a request and all resources by the beginning of id or name, among what the caller may see. */
async function searchIn(container: Container, call: Call, word: string): Promise<SearchResults> {
  const { store, keys, usageReading, canvases, hooks, workflows, guardrails, preferences, webhooks } = container
  const beginsSo = (text: string) => text.toLowerCase().startsWith(word.toLowerCase())
  const nouns = [
    ...[workflows.workflows, canvases.canvases, hooks.hooks, guardrails.policies, preferences.preferences],
    ...[webhooks.webhooks, container.widgets.widgets, container.testCases.resource],
  ]
  const lists = [
    keys
      .list(call, { limit: ALL })
      .then(({ items }) =>
        items
          .filter(({ id, name }) => beginsSo(id) || beginsSo(name))
          .map(({ id, name }) => ({ type: 'api_key', id, label: name })),
      ),
    word.startsWith('req_')
      ? usageReading
          .requests(call, { q: word, limit: MAX_FOUND })
          .then(({ items }) => items.map((one) => ({ type: 'request', id: one.request_id, label: one.endpoint })))
      : [],
    ...nouns.map(async ({ resource, list, reachOf }) => {
      const { name, label = 'name', guarded }: AnyNoun = resource
      // Throws if the caller lacks the permission to read them.
      if (guarded) await list(call, { limit: 1 })
      const found = await resource.rows.search(
        store.read,
        await reachOf(store.read, call.caller),
        label,
        word,
        MAX_FOUND,
      )
      return found.map((one) => ({ type: name, ...one }))
    }),
  ]
  const found = await Promise.all(lists.map((list) => Promise.resolve(list).catch(noneIfForbidden)))
  const results = found.flat().map((one) => ({ ...one, section: SECTIONS[one.type]! }))
  return { results: results.slice(0, MAX_FOUND) }
}

/** Returns an empty list in place of one that the caller may not see. */
function noneIfForbidden(error: unknown): [] {
  if (error instanceof AppError && error.kind === 'forbidden') return []
  throw error
}
