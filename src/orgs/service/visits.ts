import { kept } from '../../idempotency'
import type { Call, TenantCaller } from '../../kernel/caller'
import type { UserId } from '../../kernel/ids'
import type { Page, PageQuery } from '../../kernel/page'
import type { Reader } from '../../kernel/store'
import { accessChanged } from '../events'
import { presentOrg } from '../present'
import { orgRepository as rows } from '../repository'
import type { ActiveOrg, Org } from '../schema'
import { assertPerson, type Reached, reach } from './access'
import type { OrgDeps } from './deps'

/** Orgs as the people in them see them, and the one each of them works in. */
export function createVisits({ store, audit, events }: OrgDeps) {
  return { list, listFor, get, activate, deactivate }

  /** `GET /orgs`: those the caller reaches, newest first. An org's key reaches its own. */
  async function list({ caller }: Call, query: PageQuery): Promise<Page<Org>> {
    const page = await rows.pageOfOrgs(store.read, caller.userId, caller.orgId, query)
    return { ...page, items: await presentAll(store.read, page.items) }
  }

  /** Every org the user belongs to, as the user sees it, newest first. */
  async function listFor(reader: Reader, userId: UserId): Promise<Org[]> {
    return presentAll(reader, await rows.orgsOf(reader, userId))
  }

  /** `GET /orgs/{id}`. Throws 404. */
  function get({ caller }: Call, id: string): Promise<Org> {
    return view(store.read, caller, id)
  }

  /** `POST /orgs/{id}/activate`: the user's sessions and personal keys work in it from now on. Throws 404, 403. */
  function activate(call: Call, id: string): Promise<ActiveOrg> {
    return store.write(async (tx) => {
      const { org } = await reach(tx, call.caller, id)
      assertPerson(call.caller, 'choose where you work')
      const { userId } = call.caller
      await rows.activate(tx, userId, org.id)
      await audit.record(tx, call, { action: 'org.activated', entityType: 'organization', entityId: org.id })
      await events.emit(tx, accessChanged, `user:${userId}`, { userId })
      return kept(tx, call, { active_org_id: org.id })
    })
  }

  /** `DELETE /orgs/{id}/activate`: the user works in none, if it was this one. Throws 404, 403. */
  function deactivate(call: Call, id: string): Promise<ActiveOrg> {
    return store.write(async (tx) => {
      const { org } = await reach(tx, call.caller, id)
      assertPerson(call.caller, 'choose where you work')
      const { userId } = call.caller
      const active = (await rows.standing(tx, userId))?.active_org_id ?? null
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

async function presentAll(reader: Reader, found: readonly Reached[]): Promise<Org[]> {
  const counts = await rows.memberCounts(
    reader,
    found.map(({ org }) => org.id),
  )
  return found.map(({ org, role }) => presentOrg(org, role, counts.get(org.id) ?? 0))
}
