import { and, desc, eq, gt, gte, isNotNull, sql } from 'drizzle-orm'
import { isoOrNull } from '../kernel/clock'
import type { Reader } from '../kernel/store'
import { presentDelivery } from './present'
import { webhookDeliveries, webhookOutbox, webhooks } from './table'

/** The newest attempts to deliver of everyone, newest first, with the webhook of each; for operators. */
export async function newestDeliveries(reader: Reader, limit: number) {
  const [attempt, hook] = [reader.of(webhookDeliveries), reader.of(webhooks)]
  const found = await reader
    .select({ attempt, hook })
    .from(attempt)
    .innerJoin(hook, eq(hook.id, attempt.webhook_id))
    .orderBy(desc(attempt.created_at), desc(attempt.id))
    .limit(limit)
  return found.map(({ attempt, hook }) => ({
    ...presentDelivery(attempt),
    bytes: attempt.bytes,
    signature: attempt.signature,
    secret_version: attempt.secret_version,
    webhook: {
      url: hook.url,
      description: hook.description,
      owner: hook.owner,
      enabled: hook.enabled,
      disabled_reason: hook.disabled_reason,
      failure_count: hook.failure_count,
      failing_since: isoOrNull(hook.failing_since),
    },
  }))
}

/** What became of everyone's deliveries since a moment, and which webhooks were switched off. */
export async function deliverySums(reader: Reader, since: number) {
  const [attempt, line, hook] = [reader.of(webhookDeliveries), reader.of(webhookOutbox), reader.of(webhooks)]
  const number = sql<number>`count(*)`.mapWith(Number)
  const sums = await reader
    .select({
      status: attempt.status,
      total: number,
      slowest: sql<number>`max(${attempt.duration_ms})`.mapWith(Number),
    })
    .from(attempt)
    .where(gte(attempt.created_at, since))
    .groupBy(attempt.status)
  const [retrying] = await reader.select({ total: number }).from(line).where(gt(line.attempt, 1))
  const off = await reader
    .select({ id: hook.id, url: hook.url, failures: hook.failure_count, at: hook.updated_at })
    .from(hook)
    .where(and(eq(hook.enabled, false), isNotNull(hook.disabled_reason)))
    .orderBy(hook.updated_at)
    .limit(100)
  // The logs that have been cleared count too: it is what all webhooks have done.
  const [every] = await reader
    .select({ total: sql<number>`coalesce(sum(${hook.successes} + ${hook.failures}), 0)`.mapWith(Number) })
    .from(hook)
  const of = (status: string) => sums.find((one) => one.status === status)?.total ?? 0
  return {
    ok: of('success'),
    failed: of('failed'),
    retrying: retrying!.total,
    total: every!.total,
    slowest_ms: Math.max(0, ...sums.map(({ slowest }) => slowest)),
    off: off.map(({ at, ...one }) => ({ ...one, at: isoOrNull(at) })),
  }
}
