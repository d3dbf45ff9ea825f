import { and, eq, gte, sql } from 'drizzle-orm'
import type { AuditLog } from '../audit'
import { type Call, type Caller, type KeyCaller, type OwnerScope, ownerOf, type TenantCaller } from '../kernel/caller'
import { type Clock, iso, utcDay } from '../kernel/clock'
import { defineError, invalidInput, orgRequired } from '../kernel/errors'
import { nextTurn } from '../kernel/loop'
import { microToCents } from '../kernel/money'
import { type RangeQuery, readPeriod } from '../kernel/range'
import { createSharedReads } from '../kernel/shared-reads'
import { command, type Reader, type Store, type Tx } from '../kernel/store'
import { DAY_MS, grainsOf } from './buckets'
import { type Calls, daySumsOf, skillSumsOf, sumsOf } from './call-repository'
import { piecesOf } from './export'
import { type Choice, createTally, rolledIn, type Tally } from './report-repository'
import { countRequests, findRequest, listRequests, type ReadHeldAmount } from './requests'
import type {
  RequestFilters,
  RequestQuery,
  SeriesQuery,
  UsageExportQuery,
  UsageQuery,
  UsageReport,
  UsageScope,
} from './schema'
import { EXPORT_DAYS, REPORT_DAYS } from './schema'
import { costsOf, readSeries, type SeriesDeps } from './series'
import type { Refusals, Spend } from './service'
import { endOf, planOf, type Span, sumPlanOf, type Turn, tailOf } from './spans'
import { spendDays } from './table'

const EXPORT_ROWS = 1_000_000
const NEVER = new AbortController().signal

const personalKeyRequired = defineError(
  'forbidden',
  () => "This key belongs to an organization and reads only the organization's usage. Use a personal key for your own.",
)

const setSpend = command<{ subject: string; day: string; spent: number }>()((tx, p) => {
  const t = tx.of(spendDays)
  return tx
    .insert(t)
    .values({ subject: p.subject, day: p.day, spent: p.spent, held: 0 })
    .onConflictDoUpdate({ target: [t.subject, t.day], set: { spent: sql`excluded.spent` } })
})

const clearSpend = command<{ subject: string; from: string }>()((tx, p) => {
  const t = tx.of(spendDays)
  return tx
    .update(t)
    .set({ spent: 0 })
    .where(and(eq(t.subject, p.subject), gte(t.day, p.from)))
})

const firstOfMonth = (at: number): string => `${utcDay(at).slice(0, 7)}-01`

const DEFAULT_DAYS = 30

type Deps = {
  store: Store
  clock: Clock
  audit: AuditLog
  /** Rejected calls that are not in the rollups yet. */
  refusals: Pick<Refusals, 'waiting'>
  /** Throws 403 `forbidden` when the caller may not see this org's usage (docs/api.md 1.2: `viewUsage`). */
  assertMayView(reader: Reader, caller: TenantCaller, orgId: NonNullable<KeyCaller['orgId']>): Promise<void>
  /** Micro-cents. */
  balanceOf(reader: Reader, owner: OwnerScope): Promise<{ balance: number; held: number }>
  /** The part of the balance that expires, earliest first: micro-cents and epoch ms. */
  expiringOf(reader: Reader, owner: OwnerScope): Promise<{ remaining: number; expiresAt: number }[]>
  /** The caps of an owner in micro-cents. Null means no cap. */
  capsOf(reader: Reader, owner: OwnerScope): Promise<{ daily: number | null; monthly: number | null }>
  heldUnder: ReadHeldAmount
} & Pick<SeriesDeps, 'costOf' | 'namesOf'>

export type UsageReading = ReturnType<typeof createUsageReading>

/** Usage data for owners: a report of sums, and an export of single calls (docs/api.md 18.1). */
export function createUsageReading(deps: Deps) {
  const { store, clock, audit, refusals, assertMayView, balanceOf, expiringOf, capsOf } = deps
  const single = { reader: store.read, clock, namesOf: deps.namesOf }
  const sharedReads = createSharedReads(clock)
  return {
    /** The sums over a period. With `maxAgeMs`, those of the same owner and query may be that old. */
    report: async (call: Call, query: UsageQuery, maxAgeMs = 0): Promise<UsageReport> => {
      const owner = await ownerToShow(call, query.scope)
      return shared('report', owner, query, maxAgeMs, () => reportOf(owner, query))
    },
    reportOf,
    /** One value per time bucket. With `maxAgeMs`, those of the same owner and query may be that old. */
    series: async (call: Call, query: SeriesQuery, maxAgeMs = 0) => {
      const owner = await ownerToShow(call, query.scope)
      const by = maxAgeMs > 0 ? { ...call, signal: NEVER } : call
      return shared('series', owner, query, maxAgeMs, () => seriesOf(by, owner, query))
    },
    seriesOf,
    /** The cost of each key and each engine. */
    costs: (owner: OwnerScope, span: Span) => costsOf({ ...deps, reader: store.read }, owner, span),
    exportCalls,
    exportOf,
    /** Single calls, newest first, of the last 30 days by default. */
    requests: async (call: Call, query: RequestQuery) => listRequests(single, call, await seenBy(call, query), query),
    /** Single calls of any owner, for operators. */
    requestsOf: async (call: Call<Caller>, owner: OwnerScope, query: RequestQuery) =>
      listRequests(single, call, { owner, span: periodOf(query, clock.now(), REPORT_DAYS) }, query),
    countRequests: async (call: Call, query: RequestFilters) =>
      countRequests(single, call, await seenBy(call, query), query),
    /** The same two for streams, which read every second. Streams of the same calls share a reading. */
    looks: {
      requests: (call: Call, query: RequestQuery) => look('requests', call, query, listRequests),
      countRequests: (call: Call, query: RequestFilters) => look('count', call, query, countRequests),
    },
    /** One call of the last 92 days. */
    request: async (call: Call, id: string) =>
      findRequest(
        { ...single, heldUnder: deps.heldUnder },
        call,
        await seenBy(call, { from: iso(clock.now() - EXPORT_DAYS * DAY_MS) }),
        id,
      ),
  }

  async function seenBy(call: Call, query: Pick<UsageQuery, 'from' | 'to' | 'scope'>) {
    // A key sees only its own calls, which belong to its payer.
    const owner = call.caller.type === 'key' ? ownerOf(call.caller) : await ownerToShow(call, query.scope)
    return { owner, span: periodOf(query, clock.now(), REPORT_DAYS) }
  }

  /** What was read less than a second ago, if anything, else read now. `at` is when. */
  async function look<Query extends RequestFilters, T>(
    what: string,
    call: Call,
    query: Query,
    read: (deps: typeof single, call: Call, seen: Awaited<ReturnType<typeof seenBy>>, query: Query) => Promise<T>,
  ): Promise<{ at: number; found: T }> {
    const seen = await seenBy(call, query)
    const name = JSON.stringify([what, seen.owner, call.caller.type === 'key' ? call.caller.keyId : null, query])
    // One reader who leaves ends it for nobody.
    return sharedReads(name, () => read(single, { ...call, signal: NEVER }, seen, query))
  }

  /** The same for any owner, for operators. */
  function seriesOf({ signal }: Call<Caller>, owner: OwnerScope, query: SeriesQuery) {
    const span = periodOf(query, clock.now(), REPORT_DAYS)
    return readSeries({ ...deps, reader: store.read }, { owner, span, query, signal })
  }

  /** Reads what depends on the owner and the query only. The rights of the reader are already checked. */
  async function shared<T>(
    what: string,
    owner: OwnerScope,
    query: object,
    maxAgeMs: number,
    read: () => Promise<T>,
  ): Promise<T> {
    if (maxAgeMs <= 0) return read()
    return (await sharedReads(JSON.stringify([what, owner, query]), read, maxAgeMs)).found
  }

  /** The report of any owner, for operators. */
  async function reportOf(owner: OwnerScope, query: UsageQuery): Promise<UsageReport> {
    const now = clock.now()
    const span = periodOf(query, now, REPORT_DAYS)
    const { read } = store
    const choice = choiceOf(owner, query)
    const tally = await tallyOf(read, choice, span, now)
    tally.addRefused(refusals.waiting(choice, span))
    return {
      period: { from: iso(span.from), to: iso(span.to) },
      scope: owner.startsWith('org:') ? 'org' : 'user',
      ...tally.result(),
      balance: await creditOf(owner),
      spending: await spendingOf(owner, now),
    }
  }

  /** The calls as CSV or JSON pieces. Throws 400 for more than 92 days or 1,000,000 rows. */
  async function* exportCalls(call: Call, query: UsageExportQuery): AsyncGenerator<string> {
    yield* exportOf(call, await ownerToShow(call, query.scope), query)
  }

  /** The export of any owner, for operators. Records an audit event in the owner's chain before the first row. */
  async function* exportOf(call: Call<Caller>, owner: OwnerScope, query: UsageExportQuery): AsyncGenerator<string> {
    const now = clock.now()
    const span = periodOf(query, now, EXPORT_DAYS)
    const choice = choiceOf(owner, query)
    const rows = (await tallyOf(store.read, { ...choice, brief: true }, span, now)).requests()
    if (rows > EXPORT_ROWS)
      throw invalidInput(
        'from',
        `This export would have ${rows} rows; the maximum is ${EXPORT_ROWS}. Use a shorter period or a filter.`,
      )
    const { format, from: _, to: __, scope: ___, ...filters } = query
    // With other filters, the number of matching rows is known only at the end.
    const isCounted = Object.keys(filters).every((name) => ['key_id', 'mode', 'skill'].includes(name))
    const facts = { format, from: iso(span.from), to: iso(span.to), ...(isCounted ? { rows } : {}), ...filters }
    await store.write((tx) =>
      audit.record(tx, call, {
        action: 'usage.exported',
        entityType: 'billing',
        entityId: null,
        scope: owner,
        input: { metadata: facts },
      }),
    )
    const { signal, requestId } = call
    yield* piecesOf(single, { owner, filters, span, signal, format, requestId })
  }

  async function creditOf(owner: OwnerScope): Promise<UsageReport['balance']> {
    const { balance, held } = await balanceOf(store.read, owner)
    const expiring = (await expiringOf(store.read, owner)).map(({ remaining, expiresAt }) => ({
      amount_cents: microToCents(remaining),
      expires_at: iso(expiresAt),
    }))
    return { balance_cents: microToCents(balance), reserved_cents: microToCents(held), currency: 'usd', expiring }
  }

  async function spendingOf(owner: OwnerScope, now: number): Promise<UsageReport['spending']> {
    const { daily, monthly } = await capsOf(store.read, owner)
    const { today, month } = await spendOfOwner(store.read, owner, now)
    return {
      daily_cap_cents: daily === null ? null : microToCents(daily),
      daily_used_cents: microToCents(today.spent),
      monthly_cap_cents: monthly === null ? null : microToCents(monthly),
      monthly_used_cents: microToCents(month.spent),
    }
  }

  /** The owner whose calls are shown: the active org if there is one, unless the query says otherwise. */
  async function ownerToShow({ caller }: Call, wanted?: UsageScope): Promise<OwnerScope> {
    const { userId, orgId, activeOrgId } = caller
    if (wanted === 'user' && orgId !== null) throw personalKeyRequired()
    if ((wanted ?? (activeOrgId ? 'org' : 'user')) === 'user') return `user:${userId}`
    if (activeOrgId === null) throw orgRequired()
    await assertMayView(store.read, caller, activeOrgId)
    return `org:${activeOrgId}`
  }
}

const choiceOf = (owner: OwnerScope, { key_id, mode, skill }: UsageQuery): Choice => ({
  owner,
  keyId: key_id,
  mode,
  skill,
})

/**
 * The period of a query, by default the last 30 days (docs/api.md 18.1). Throws 400 `validation_error` for an invalid
 * date, a reversed period, and a period of more than `maxDays`.
 */
function periodOf(query: RangeQuery, now: number, maxDays: number): Span {
  // `to` is exclusive. + 1 includes a call of the current millisecond.
  const { from, to } = readPeriod(query, now + 1, DEFAULT_DAYS * DAY_MS)
  const days = Math.ceil((to - from) / DAY_MS)
  if (days > maxDays)
    throw invalidInput(
      'from',
      `"from" and "to" are ${days} days apart; the maximum is ${maxDays}. Use a shorter period.`,
    )
  return { from, to }
}

/** The spending of an owner today and this month, from rollups and calls. An owner without caps has no holds here. */
export async function spendOfOwner(reader: Reader, owner: OwnerScope, at: number): Promise<Spend> {
  const days = await monthOf(reader, owner, at, nextTurn)
  return {
    today: { spent: days.get(utcDay(at)) ?? 0, held: 0 },
    month: { spent: [...days.values()].reduce((sum, spent) => sum + spent, 0), held: 0 },
  }
}

/** Writes the month so far into the owner's `spend_days`, when the owner gets a first cap. */
export async function startOwnerSpend(tx: Tx, owner: OwnerScope, at: number): Promise<void> {
  // Inside a transaction only the store may be awaited, so this never yields to the event loop.
  const days = await monthOf(tx, owner, at, async () => undefined)
  await clearSpend(tx, { subject: owner, from: firstOfMonth(at) })
  for (const [day, spent] of days) await setSpend(tx, { subject: owner, day, spent })
}

/** Micro-cents by UTC day. */
async function monthOf(reader: Reader, owner: OwnerScope, at: number, turn: Turn): Promise<Map<string, number>> {
  const from = Date.parse(`${firstOfMonth(at)}T00:00:00.000Z`)
  return (await tallyOf(reader, { owner, brief: true }, { from, to: at + 1 }, at, turn)).costByDay()
}

/**
 * Exact sums over a period. Whole days, hours, slots and minutes come from the rollups. The ends of the period and calls that
 * are not rolled up yet come from the records. The cost does not grow with the number of calls.
 */
export async function tallyOf(
  db: Reader,
  choice: Choice,
  span: Span,
  now: number,
  turn: Turn = nextTurn,
): Promise<Tally> {
  const tally = createTally(choice.skill)
  const plan = await sumPlanOf(db, choice, planOf(span, now, grainsOf(choice.keyId ?? '')))
  const { position, buckets } = await rolledIn(db, choice, plan)
  await turn()
  for (const bucket of buckets) tally.addBucket(bucket)
  for (const end of plan.calls)
    for await (const calls of endOf(db, choice, end, position, turn)) await addCalls(db, choice, calls, tally)
  for (const rest of plan.less)
    for await (const calls of endOf(db, choice, rest, position, turn)) await addCalls(db, choice, calls, tally, -1)
  for await (const calls of tailOf(db, choice, plan.whole, position, turn)) await addCalls(db, choice, calls, tally)
  return tally
}

async function addCalls(db: Reader, { skill, brief }: Choice, calls: Calls, tally: Tally, sign = 1): Promise<void> {
  if (brief) {
    for (const sums of await daySumsOf(db, calls)) tally.addSums(sums, sign)
    return
  }
  for (const sums of await sumsOf(db, calls)) {
    tally.addSums(sums, sign)
    for (const ms of sums.latencies) tally.addLatency(ms, sign)
  }
  if (skill === undefined) for (const sums of await skillSumsOf(db, calls)) tally.addSkill(sums, sign)
}
