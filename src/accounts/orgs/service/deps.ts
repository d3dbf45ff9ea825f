import type { AuditLog } from '../../../audit'
import type { EventBus } from '../../../events'
import type { Call, Caller } from '../../../kernel/caller'
import type { Clock } from '../../../kernel/clock'
import type { Values } from '../../../kernel/config'
import type { OrgId } from '../../../kernel/ids'
import type { Store, Tx } from '../../../kernel/store'
import type { orgSettings } from '../config'

export type OrgDeps = {
  store: Store
  audit: AuditLog
  events: EventBus
  clock: Clock
  settings: Values<typeof orgSettings>
}

type Note = { action: `org.${string}`; fields?: string[]; metadata?: Record<string, unknown> }

/** Records a change to an org in the org's own audit chain, whoever made it (contract 19). */
export async function recordOn(
  { audit }: Pick<OrgDeps, 'audit'>,
  tx: Tx,
  call: Call<Caller>,
  orgId: OrgId,
  { action, ...input }: Note,
): Promise<void> {
  await audit.record(tx, call, {
    action,
    entityType: 'organization',
    entityId: orgId,
    scope: `org:${orgId}`,
    input,
  })
}
