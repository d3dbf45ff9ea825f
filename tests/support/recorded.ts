import { and, asc, eq } from 'drizzle-orm'
import { auditLog } from '../../src/audit/table'
import type { World } from './world'

/** Rows of the audit record of everyone, oldest first. */
export function recordedIn({ app }: World, { action, entityId }: { action: string; entityId?: string }) {
  const t = app.store.read.of(auditLog)
  const wanted = and(eq(t.action, action), entityId === undefined ? undefined : eq(t.entity_id, entityId))
  const found = app.store.read.select({ scope: t.scope, entity_id: t.entity_id, input: t.input }).from(t).where(wanted)
  return found.orderBy(asc(t.seq))
}
