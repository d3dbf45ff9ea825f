import { defineEvent, defineInternalEvent } from '../events'
import type { Call, Caller } from '../kernel/caller'
import type { OrgId, UserId } from '../kernel/ids'
import type { Role } from './schema'

/** What a user or an org may do has changed; whoever remembers an answer about it must ask again. */
export const accessChanged = defineInternalEvent<{ userId: UserId } | { orgId: OrgId }>('access.changed')

/** An operator shut an account out, or let it back in: sessions it had end in the same unit, either way. */
export const accountSwitched = defineInternalEvent<{ userId: UserId }>('account.switched')

/** Someone belongs to the org from now on (contract 18.4). */
export const memberJoined = defineEvent<{ org_id: OrgId; user_id: UserId; role: Role; invited_by: UserId | null }>(
  'team.member_joined',
)

/** Someone no longer belongs to the org: what they made in its name ends in the same unit. */
export const memberLeft = defineInternalEvent<{ orgId: OrgId; userId: UserId; call: Call<Caller> }>('org.member_left')

/** The org is gone: what worked in its name ends in the same unit; its ledger and its record stay. */
export const orgDeleted = defineInternalEvent<{ orgId: OrgId; call: Call<Caller> }>('org.gone')
