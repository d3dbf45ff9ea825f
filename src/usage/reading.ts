import type { AuditLog } from '../audit'
import type { Call, Caller, KeyCaller, OwnerScope, TenantCaller } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { orgRequired } from '../kernel/errors'
import { microToCents } from '../kernel/money'
import type { Reader, Store } from '../kernel/store'
import { EXPORT_DAYS, EXPORT_ROWS, personalKeyRequired, REPORT_DAYS, tooManyRows } from './errors'
import { piecesOf } from './export'
import { spendOfOwner } from './owner-spend'
import { periodOf } from './period'
import type { Refusals } from './refusals'
import { tallyOf } from './report'
import type { Choice } from './report-repository'
import type { UsageExportQuery, UsageQuery, UsageReport, UsageScope } from './schema'

type Deps = {
  store: Store
  clock: Clock
  audit: AuditLog
  /** Refused calls that are not in the rollups yet. */
  refusals: Pick<Refusals, 'waiting'>
  /** Throws 403 `forbidden` when the caller may not see this org's usage (contract 1.2: `viewUsage`). */
  assertMayView(reader: Reader, caller: TenantCaller, orgId: NonNullable<KeyCaller['orgId']>): Promise<void>
  /** Micro-cents. */
  balanceOf(reader: Reader, owner: OwnerScope): Promise<{ balance: number; held: number }>
  /** The part of the balance that expires, soonest first: micro-cents and epoch ms. */
  expiringOf(reader: Reader, owner: OwnerScope): Promise<{ remaining: number; expiresAt: number }[]>
  /** The caps of an owner in micro-cents; null means no cap. */
  capsOf(reader: Reader, owner: OwnerScope): Promise<{ daily: number | null; monthly: number | null }>
}

export type UsageReading = ReturnType<typeof createUsageReading>

/** What owners can see of their calls: a report of sums, and an export of the calls themselves (contract 18.1). */
export function createUsageReading(deps: Deps) {
  const { store, clock, audit, refusals, assertMayView, balanceOf, expiringOf, capsOf } = deps
  return { report, reportOf, exportCalls, exportOf }

  /** The sums over a period. */
  async function report(call: Call, query: UsageQuery): Promise<UsageReport> {
    return reportOf(await ownerToShow(call, query.scope), query)
  }

  /** The same for any owner, for operators. */
  async function reportOf(owner: OwnerScope, query: UsageQuery): Promise<UsageReport> {
    const now = clock.now()
    const span = periodOf(query, now, REPORT_DAYS)
    const { read } = store
    const choice = choiceOf(owner, query)
    const tally = await tallyOf(read, choice, span, now)
    tally.addRefused(refusals.waiting(choice, span))
    return {
      period: { from: iso(span.from), to: iso(span.to) },
      scope: scopeOf(owner),
      ...tally.result(),
      balance: await creditOf(owner),
      spending: await spendingOf(owner, now),
    }
  }

  /** The calls as CSV or JSON pieces. Throws 400 for more than 92 days or 1,000,000 rows. */
  async function* exportCalls(call: Call, query: UsageExportQuery): AsyncGenerator<string> {
    yield* exportOf(call, await ownerToShow(call, query.scope), query)
  }

  /** The same for any owner, for operators. An audit event is written to the owner's chain before the first row is sent. */
  async function* exportOf(call: Call<Caller>, owner: OwnerScope, query: UsageExportQuery): AsyncGenerator<string> {
    const now = clock.now()
    const span = periodOf(query, now, EXPORT_DAYS)
    const choice = choiceOf(owner, query)
    const rows = (await tallyOf(store.read, { ...choice, brief: true }, span, now)).requests()
    if (rows > EXPORT_ROWS) throw tooManyRows(rows)
    const { format, key_id, mode, skill } = query
    const facts = { format, from: iso(span.from), to: iso(span.to), rows, ...withoutUndefined({ key_id, mode, skill }) }
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
    yield* piecesOf(store.read, { choice, span, signal, format, requestId })
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

  /** Whose calls to show: the active org's when there is one, unless the query says otherwise. */
  async function ownerToShow({ caller }: Call, wanted?: UsageScope): Promise<OwnerScope> {
    const { userId, orgId, activeOrgId } = caller
    if (wanted === 'user' && orgId !== null) throw personalKeyRequired()
    if ((wanted ?? (activeOrgId ? 'org' : 'user')) === 'user') return `user:${userId}`
    if (activeOrgId === null) throw orgRequired()
    await assertMayView(store.read, caller, activeOrgId)
    return `org:${activeOrgId}`
  }
}

const scopeOf = (owner: OwnerScope): UsageScope => (owner.startsWith('org:') ? 'org' : 'user')

const choiceOf = (owner: OwnerScope, { key_id, mode, skill }: UsageQuery): Choice => ({
  owner,
  keyId: key_id,
  mode,
  skill,
})

const withoutUndefined = (filters: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
