import type { Call, Caller } from '../../../kernel/caller'
import type { OrgId, UserId } from '../../../kernel/ids'
import type { Tx } from '../../../kernel/store'
import { memberLeft, orgDeleted } from '../../orgs/events'
import { keyRepository as rows } from '../repository'
import { type KeyDeps, recordChange } from './deps'

type Orphaned = { orgId: OrgId; userId?: UserId; call: Call<Caller> }

const AT_ONCE = 100

/**
 * Revokes the keys of a deleted org, and the org keys of a member who leaves it, in the same transaction: nobody
 * who left keeps access or can spend the org's money (D19).
 */
export function endOrphans(deps: KeyDeps): void {
  const { events, clock } = deps
  events.inTransaction(orgDeleted, (tx, { data }) => revokeAll(tx, data))
  events.inTransaction(memberLeft, (tx, { data }) => revokeAll(tx, data))

  async function revokeAll(tx: Tx, { call, ...ownerFilter }: Orphaned): Promise<void> {
    const filter = { ...ownerFilter, unrevoked: true }
    for (let found = await live(); found.length; found = await live()) {
      for (const { id } of found) {
        const row = await rows.revoke(tx, id, clock.now())
        if (row) await recordChange(deps, tx, call, row, { action: 'key.revoked' })
      }
    }

    async function live() {
      return (await rows.search(tx, filter, { limit: AT_ONCE })).items
    }
  }
}
