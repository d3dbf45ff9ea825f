import { defineEvent, defineInternalEvent } from '../../events'
import type { Call, Caller } from '../../kernel/caller'
import type { OrgId, UserId } from '../../kernel/ids'
import type { Role } from './schema'

/** The rights of a user or an org changed. Listeners drop their caches. */
export const accessChanged = defineInternalEvent<{ userId: UserId } | { orgId: OrgId }>('access.changed')

/** An operator disabled or enabled an account. Either way its sessions end in the same transaction. */
export const accountSwitched = defineInternalEvent<{ userId: UserId }>('account.switched')

/** A user joined the org (docs/api.md 18.4). */
export const memberJoined = defineEvent<{ org_id: OrgId; user_id: UserId; role: Role; invited_by: UserId | null }>(
  'team.member_joined',
)

/** A user left the org. The keys they created for it are revoked in the same transaction. */
export const memberLeft = defineInternalEvent<{ orgId: OrgId; userId: UserId; call: Call<Caller> }>('org.member_left')

/** The org was deleted. Its keys are revoked in the same transaction. Its ledger and its audit chain stay. */
export const orgDeleted = defineInternalEvent<{ orgId: OrgId; call: Call<Caller> }>('org.gone')
