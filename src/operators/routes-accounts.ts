import { ApiKey, OperatorKeyPatch } from '../accounts/keys/schema'
import { OrgDetail, OwnerQuery } from '../accounts/orgs/schema'
import { EXPORT_HEADERS as AUDIT_HEADERS } from '../audit'
import { AuditHead, ChainCheck, ExportSignature } from '../audit/schema'
import { BillingLimits } from '../billing/schema'
import { operator } from '../http/verbs'
import { pageAs } from '../kernel/page'
import { t } from '../kernel/schema'
import { IncreaseQuery, RateLimits } from '../limits/schema'
import { EXPORT_HEADERS as USAGE_HEADERS } from '../usage'
import { RequestPage, UsageSeries } from '../usage/schema'
import * as words from './schema'
import type { OperatorService } from './service'

/** Members of a key with the owner's content for engines, and the texts of an owner's tier request. */
const KEY_WORDS = ['brand_soul', 'routing_rules'] as const
const OF_REQUESTS = { holds: ['use_case', 'expected_volume', 'reason'], role: 'billing' } as const
const FACTS = { holds: 'facts' } as const
const BILLS = { role: 'billing' } as const

/** Tiers and limits, credit, usage and audit log of any owner (docs/operating.md 2.9, 2.16, 2.17). */
export const accountVerbs = ({ limits, credits, usage, audit, orgDetail }: OperatorService) =>
  [
    operator.get('/orgs/:ref', { holds: ['plan_note'], role: 'billing', reply: OrgDetail }, (call, { id }) =>
      orgDetail(call, id),
    ),
    operator.get('/tiers', { ...FACTS, reply: words.TierList }, (call) => ({ tiers: limits.tierTable(call) })),
    operator.put(
      '/tiers/:ref',
      { ...BILLS, holds: KEY_WORDS, body: words.NewTier, reply: ApiKey },
      (call, { id, body }) => limits.setTier(call, id, body.tier),
    ),
    operator.put('/keys/:ref', { body: OperatorKeyPatch, reply: ApiKey }, (call, { id, body }) =>
      limits.updateKey(call, id, body),
    ),
    operator.get('/keys/:ref/limits', { ...OF_REQUESTS, reply: t.Omit(RateLimits, ['request_id']) }, (call, { id }) =>
      limits.windowsOf(call, id),
    ),
    operator.get(
      '/limits',
      { ...OF_REQUESTS, query: IncreaseQuery, reply: words.WeighedIncreases },
      async (call, { query }) => pageAs('requests', await limits.list(call, query)),
    ),
    operator.get('/limits/:ref', { ...OF_REQUESTS, reply: words.WeighedIncrease }, (call, { id }) =>
      limits.get(call, id),
    ),
    operator.post(
      '/limits/:ref',
      { ...BILLS, body: words.LimitDecision, reply: words.WeighedIncrease },
      (call, { id, body }) => limits.decide(call, id, body),
    ),
    operator.get('/credits', { ...FACTS, query: OwnerQuery, reply: words.Balance }, (call, { query }) =>
      credits.balance(call, query.owner),
    ),
    operator.post('/credits', { ...BILLS, body: words.NewGrant, reply: words.Grant }, (call, { body }) =>
      credits.grant(call, body),
    ),
    operator.post(
      '/credits/adjustments',
      { ...BILLS, body: words.NewAdjustment, reply: words.Adjustment },
      (call, { body }) => credits.adjust(call, body),
    ),
    operator.get(
      '/credits/ledger',
      { holds: ['note'], role: 'billing', query: words.LedgerQuery, reply: words.LedgerRows },
      async (call, { query }) => pageAs('entries', await credits.ledger(call, query)),
    ),
    operator.get('/credits/differences', { ...FACTS, reply: words.Reconciliation }, (call) => credits.compare(call)),
    operator.post('/credits/differences', { ...BILLS, reply: words.Reconciliation }, (call) => credits.apply(call)),
    operator.post('/credits/codes', { ...BILLS, body: words.NewCode, reply: words.GrantCode }, (call, { body }) =>
      credits.createCode(call, body),
    ),
    operator.put('/credits/caps', { ...BILLS, body: words.NewCaps, reply: BillingLimits }, (call, { body }) =>
      credits.setCaps(call, body),
    ),
    operator.get(
      '/usage',
      { ...FACTS, query: words.OperatorUsageQuery, reply: words.OperatorUsage },
      (call, { query }) => usage.show(call, query),
    ),
    operator.get(
      '/usage/series',
      { ...FACTS, query: words.OperatorSeriesQuery, reply: UsageSeries },
      (call, { query }) => usage.series(call, query),
    ),
    operator.get(
      '/requests',
      { holds: ['metadata'], query: words.OperatorRequestQuery, reply: RequestPage },
      async (call, { query }) => pageAs('requests', await usage.requests(call, query)),
    ),
    operator.get(
      '/usage/export',
      { ...FACTS, query: words.OperatorUsageExportQuery, reply: t.String() },
      (call, { query }) => exportResponse(usage.exportCalls(call, query), USAGE_HEADERS[query.format]),
    ),
    operator.get(
      '/audit',
      { holds: ['metadata'], query: words.OperatorAuditQuery, reply: words.AuditPage },
      async (call, { query }) => pageAs('events', await audit.list(call, query)),
    ),
    operator.get(
      '/audit/export',
      { holds: 'content', query: words.OperatorAuditExport, reply: t.String() },
      (call, { query }) => exportResponse(audit.exportEvents(call, query), AUDIT_HEADERS[query.format]),
    ),
    operator.get('/audit/signatures/:ref', { ...FACTS, reply: ExportSignature }, (_, { id }) => audit.signatureOf(id)),
    operator.get('/audit/head', { ...FACTS, query: OwnerQuery, reply: AuditHead }, (call, { query }) =>
      audit.head(call, query.owner),
    ),
    operator.get(
      '/audit/actions',
      { ...FACTS, query: OwnerQuery, reply: words.ActionCounts },
      async (call, { query }) => ({
        actions: await audit.actions(call, query.owner),
      }),
    ),
    operator.post('/audit/check', { query: words.CheckQuery, reply: ChainCheck }, (call, { query }) =>
      audit.check(call, query),
    ),
  ] as const

/**
 * Streams the pieces of a file as the response. Reads the first piece before the response starts, so that an early
 * error keeps its own status.
 */
async function exportResponse(pieces: AsyncGenerator<string>, headers: Record<string, string>): Promise<Response> {
  const first = await pieces.next()
  return new Response(resumed(first, pieces) as unknown as BodyInit, { headers })
}

async function* resumed(first: IteratorResult<string>, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  if (!first.done) yield first.value
  yield* rest
}
