import type { OrgService } from '../accounts'
import type { AuditLog } from '../audit'
import type { Call, OwnerScope } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { csvFile, csvHeaders } from '../kernel/csv'
import { defineError, invalidInput } from '../kernel/errors'
import { form } from '../kernel/form'
import { microToCents, plainCents } from '../kernel/money'
import { mapPage, type Page, PageQuery } from '../kernel/page'
import { RangeQuery, readRange } from '../kernel/range'
import { namedObject, nullable, oneOf, pageOf, type Static, Timestamp, t } from '../kernel/schema'
import type { Store } from '../kernel/store'
import type { UsageReading } from '../usage'
import { LimitsQuery } from './limits-schema'
import { requestOf } from './schema'
import { payingOwner } from './scope'
import { bookedIn, listLedger } from './verify-queries'

const LEDGER_KINDS = [
  'initial',
  'grant',
  'purchase',
  'settle',
  'adjust',
  'expire',
  'refund',
  'restore',
  'carried',
] as const
const EXPORT_ROWS = 1_000_000
const EXPORT_PAGE = 1_000
const STATEMENT_MS = 5_000

const Filters = t.Object({
  ...LimitsQuery.properties,
  ...RangeQuery.properties,
  kind: t.Optional(
    oneOf(LEDGER_KINDS, {
      description: '`settle` is the charge for a call, `carried` the sum of calls that were archived',
    }),
  ),
})
export const LedgerQuery = t.Object({ ...Filters.properties, ...PageQuery.properties })
type LedgerQuery = Static<typeof LedgerQuery>
export const LedgerExportQuery = t.Object({
  ...Filters.properties,
  format: oneOf(['csv', 'json'] as const, { default: 'csv' }),
})
type LedgerExportQuery = Static<typeof LedgerExportQuery>

const LedgerEntry = namedObject('LedgerEntry', {
  id: t.Integer(),
  at: Timestamp,
  kind: t.String(),
  amount_cents: t.Number(),
  balance_cents: t.Number({ description: 'Balance after this entry' }),
  reference: nullable(t.Object({ type: oneOf(['request', 'job', 'session', 'payment'] as const), id: t.String() })),
  note: nullable(t.String()),
})
type LedgerEntry = Static<typeof LedgerEntry>
export const LedgerPage = pageOf('entries', LedgerEntry)
export const LedgerExport = t.Object({ entries: t.Array(LedgerEntry) })

export const Month = t.Object({
  month: t.String({ pattern: form('^20[0-9]{2}-(0[1-9]|1[0-2])$', 'a month such as 2026-03') }),
})

const Costs = t.Array(
  namedObject('StatementCost', { key: t.String(), label: t.String(), requests: t.Integer(), cost_cents: t.Number() }),
)
export const Statement = namedObject('Statement', {
  object: t.Literal('statement'),
  month: t.String(),
  opening_cents: t.Number(),
  entries_by_kind: t.Record(t.String(), t.Object({ entries: t.Integer(), amount_cents: t.Number() })),
  closing_cents: t.Number({ description: 'At the end of the month; of a running month, the balance now' }),
  by_key: Costs,
  by_model: Costs,
})
export type Statement = Static<typeof Statement>

const tooManyEntries = defineError(
  'service_unavailable',
  () => `This statement was not summed up within ${STATEMENT_MS / 1_000} s. Read a later month, or export the ledger.`,
)

export type StatementDeps = {
  store: Store
  audit: AuditLog
  clock: Clock
  orgs: OrgService
  costs: UsageReading['costs']
}

export const LEDGER_HEADERS = {
  csv: csvHeaders('ledger'),
  json: {
    ...csvHeaders('ledger'),
    'content-type': 'application/json',
    'content-disposition': 'attachment; filename="ledger.json"',
  },
}

/** The caller's ledger, newest first. A page can be short, or empty, and have a cursor. */
export async function readLedger(
  { store, orgs }: StatementDeps,
  call: Call,
  query: LedgerQuery,
): Promise<Page<LedgerEntry>> {
  const owner = await payingOwner(orgs, store.read, call.caller, query.scope)
  return mapPage(await listLedger(store.read, owner, query.limit, filterOf(query)), present)
}

/** The same list as chunks of a file, at most a million entries. */
export async function* exportLedger({ store, orgs, audit }: StatementDeps, call: Call, query: LedgerExportQuery) {
  const owner = await payingOwner(orgs, store.read, call.caller, query.scope)
  // Validates before the first chunk is sent.
  const filter = filterOf(query)
  const { scope: _, ...metadata } = query
  const entry = { action: 'billing.ledger_exported', entityType: 'billing', entityId: null, scope: owner } as const
  await store.write((tx) => audit.record(tx, call, { ...entry, input: { metadata } }))
  const pages = pagesOf(store, owner, filter, call.signal)
  if (query.format === 'csv') {
    yield* csvFile(
      ['id', 'at', 'kind', 'amount_cents', 'balance_cents', 'reference_type', 'reference_id', 'note'],
      rows(),
    )
    return
  }
  yield `{"request_id":${JSON.stringify(call.requestId)},"entries":[`
  let between = ''
  for await (const page of pages) {
    if (!page.length) continue
    yield between + page.map((entry) => JSON.stringify(entry)).join(',')
    between = ','
  }
  yield ']}'

  async function* rows() {
    for await (const page of pages) {
      yield page.map(({ id, at, kind, amount_cents, balance_cents, reference, note }) => [
        ...[id, at, kind, plainCents(amount_cents * 1e6), plainCents(balance_cents * 1e6)],
        ...[reference?.type ?? null, reference?.id ?? null, note],
      ])
    }
  }
}

async function* pagesOf(store: Store, owner: OwnerScope, filter: ReturnType<typeof filterOf>, signal: AbortSignal) {
  let cursor: string | undefined
  for (let sent = 0; sent < EXPORT_ROWS && !signal.aborted; sent += EXPORT_PAGE) {
    const page = await listLedger(store.read, owner, EXPORT_PAGE, { ...filter, cursor })
    yield page.items.map(present)
    if (page.next === null) return
    cursor = page.next
  }
}

/**
 * Income and spending of a month (UTC), and the cost of each key and engine. Throws 400 for a future month, and 503
 * when too many entries were booked since.
 */
export async function readStatement(
  { store, clock, orgs, costs }: StatementDeps,
  call: Call,
  month: string,
  scope: LedgerQuery['scope'],
): Promise<Statement> {
  const owner = await payingOwner(orgs, store.read, call.caller, scope)
  const from = Date.parse(`${month}-01T00:00:00Z`)
  if (from > clock.now()) throw invalidInput('month', `"${month}" has not begun. Choose this month or an earlier one.`)
  const to = new Date(from).setUTCMonth(new Date(from).getUTCMonth() + 1)
  const endsAt = clock.monotonic() + STATEMENT_MS
  const booked = await bookedIn(
    store.read,
    owner,
    { from, to, now: clock.now() },
    () => clock.monotonic() > endsAt || call.signal.aborted,
  )
  if (!booked) throw tooManyEntries()
  const { key, model } = await costs(owner, { from, to })
  const sum = [...booked.kinds.values()].reduce((total, { amount }) => total + amount, 0)
  return {
    object: 'statement',
    month,
    opening_cents: microToCents(booked.closing - sum),
    entries_by_kind: Object.fromEntries(
      [...booked.kinds]
        .sort()
        .map(([kind, { entries, amount }]) => [kind, { entries, amount_cents: microToCents(amount) }]),
    ),
    closing_cents: microToCents(booked.closing),
    by_key: key,
    by_model: model,
  }
}

const filterOf = (query: Static<typeof Filters> & { cursor?: string | undefined }) => ({
  ...readRange(query),
  cursor: query.cursor,
  kind: query.kind,
})

type Booked = Awaited<ReturnType<typeof listLedger>>['items'][number]

const present = ({ id, at, kind, ref, amount, balance, note }: Booked): LedgerEntry => ({
  id,
  at: iso(at),
  kind,
  amount_cents: microToCents(amount),
  balance_cents: microToCents(balance),
  reference: referenceOf(kind, ref),
  note,
})

/** What an entry is for. The reference of a charge holds a time and the id of the request, job or session. */
function referenceOf(kind: string, ref: string): LedgerEntry['reference'] {
  if (kind === 'settle') {
    const id = requestOf(ref)
    return { type: id.startsWith('req_') ? 'request' : id.startsWith('job_') ? 'job' : 'session', id }
  }
  return ref.startsWith('purchase_') ? { type: 'payment', id: ref.slice('purchase_'.length) } : null
}
