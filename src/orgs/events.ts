import { defineInternalEvent } from '../events'
import type { OrgId, UserId } from '../kernel/ids'

/** What a user or an org may do has changed; whoever remembers an answer about it must ask again. */
export const accessChanged = defineInternalEvent<{ userId: UserId } | { orgId: OrgId }>('access.changed')
