import { storeAnswer } from '../../../idempotency'
import type { Call, TenantCaller } from '../../../kernel/caller'
import type { UserId } from '../../../kernel/ids'
import type { Page, PageQuery } from '../../../kernel/page'
import type { Reader } from '../../../kernel/store'
import { accessChanged } from '../events'
import { presentOrg } from '../present'
import { orgRepository as rows } from '../repository'
import type { ActiveOrg, Org } from '../schema'
import { assertPerson, type OrgAndRole, reach } from './access'
import type { OrgDeps } from './deps'

/** Orgs as their members see them, and each user's active org. */
export function createVisits({ store, audit, events }: OrgDeps) {
  return { list, listFor, get, activate, deactivate }

  /** `GET /orgs`: the orgs the caller reaches, newest first. An org's key reaches only its own. */
  async function list({ caller }: Call, query: PageQuery): Promise<Page<Org>> {
    const page = await rows.pageOfOrgs(store.read, caller.userId, caller.orgId, query)
    return { ...page, items: await presentAll(store.read, page.items) }
  }

  /** All orgs of a user, newest first. */
  async function listFor(reader: Reader, userId: UserId): Promise<Org[]> {
    return presentAll(reader, await rows.orgsOf(reader, userId))
  }

  /** `GET /orgs/{id}`. */
  function get({ caller }: Call, id: string): Promise<Org> {
    return view(store.read, caller, id)
  }

  /** `POST /orgs/{id}/activate`: makes it the active org of the user's sessions and personal keys. */
  function activate(call: Call, id: string): Promise<ActiveOrg> {
    return store.write(async (tx) => {
      const { org } = await reach(tx, call.caller, id)
      assertPerson(call.caller, 'choose where you work')
      const { userId } = call.caller
      await rows.activate(tx, userId, org.id)
      await audit.record(tx, call, { action: 'org.activated', entityType: 'organization', entityId: org.id })
      await events.emit(tx, accessChanged, `user:${userId}`, { userId })
      return storeAnswer(tx, call, { active_org_id: org.id })
    })
  }

  /** `DELETE /orgs/{id}/activate`: unsets the active org if it is this one. */
  function deactivate(call: Call, id: string): Promise<ActiveOrg> {
    return store.write(async (tx) => {
      const { org } = await reach(tx, call.caller, id)
      assertPerson(call.caller, 'choose where you work')
      const { userId } = call.caller
      const active = (await rows.accessOf(tx, userId))?.active_org_id ?? null
      if (active !== org.id) return { active_org_id: active }
      await rows.activate(tx, userId, null)
      await audit.record(tx, call, { action: 'org.deactivated', entityType: 'organization', entityId: org.id })
      await events.emit(tx, accessChanged, `user:${userId}`, { userId })
      return { active_org_id: null }
    })
  }
}

/** The org as the caller sees it. Throws 404. */
export async function view(reader: Reader, caller: TenantCaller, id: string): Promise<Org> {
  const [org] = await presentAll(reader, [await reach(reader, caller, id)])
  return org!
}

async function presentAll(reader: Reader, found: readonly OrgAndRole[]): Promise<Org[]> {
  const counts = await rows.memberCounts(
    reader,
    found.map(({ org }) => org.id),
  )
  return found.map(({ org, role }) => presentOrg(org, role, counts.get(org.id) ?? 0))
}
