import { and, eq, isNull } from 'drizzle-orm'
import type { OrgId } from '../../kernel/ids'
import type { Reader, Tx } from '../../kernel/store'
import type { InvitationId } from './schema'
import { type InvitationRow, invitations } from './table'

/** Invitations; tenants reach them only through the hash of the token. */
export const invitationRows = {
  async byToken(db: Reader, hash: string): Promise<InvitationRow | undefined> {
    const table = db.of(invitations)
    return (await db.select().from(table).where(eq(table.token_hash, hash)).limit(1))[0]
  },

  /** Stores the invitation in place of an earlier one for the same address, whose token stops working. */
  async replace(tx: Tx, row: InvitationRow): Promise<void> {
    const table = tx.of(invitations)
    await tx.delete(table).where(and(eq(table.org_id, row.org_id), eq(table.email, row.email)))
    await tx.insert(table).values(row)
  },

  /** False when it had been accepted before. */
  async accept(tx: Tx, id: InvitationId, accepted_at: number): Promise<boolean> {
    const table = tx.of(invitations)
    const open = and(eq(table.id, id), isNull(table.accepted_at))
    return (await tx.update(table).set({ accepted_at }).where(open).returning({ id: table.id })).length === 1
  },

  async removeAll(tx: Tx, orgId: OrgId): Promise<void> {
    const table = tx.of(invitations)
    await tx.delete(table).where(eq(table.org_id, orgId))
  },
}
