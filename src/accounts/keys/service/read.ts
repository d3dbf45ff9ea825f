import type { Call, TenantCaller } from '../../../kernel/caller'
import { KeyId } from '../../../kernel/ids'
import type { Page, PageQuery } from '../../../kernel/page'
import type { Reader, Tx } from '../../../kernel/store'
import { keyNotFound } from '../errors'
import { present } from '../present'
import { keyRepository as rows, type Scope } from '../repository'
import type { ApiKey } from '../schema'
import type { KeyRow } from '../table'
import type { KeyDeps } from './deps'

/**
 * The keys a caller may manage: for an org's key those of its org, for everyone else their personal ones and those
 * of orgs where they hold `manageApiKeys`. Throws 403 `forbidden` for an org's key whose maker lost that permission.
 */
async function scopeOf({ orgs }: KeyDeps, reader: Reader, caller: TenantCaller): Promise<Scope> {
  if (caller.orgId) {
    await orgs.assertPermission(reader, caller, 'manageApiKeys', caller.orgId)
    return { userId: null, orgIds: [caller.orgId] }
  }
  return { userId: caller.userId, orgIds: await orgs.orgIdsWith(reader, caller.userId, 'manageApiKeys') }
}

/** A key the caller may manage. A foreign, an unknown and a malformed id give the same 404 (I22). */
export async function findOwn(deps: KeyDeps, reader: Reader, caller: TenantCaller, id: string): Promise<KeyRow> {
  const scope = await scopeOf(deps, reader, caller)
  const row = KeyId.is(id) ? await rows.find(reader, scope, id) : undefined
  if (!row) throw keyNotFound()
  return row
}

/** The same inside a unit, with the key locked until it commits, so that no check of it is out of date. */
export async function findOwnLocked(deps: KeyDeps, tx: Tx, caller: TenantCaller, id: string): Promise<KeyRow> {
  return rows.lock(tx, (await findOwn(deps, tx, caller, id)).id)
}

export const presentSpent = async ({ spentBy, clock }: KeyDeps, reader: Reader, row: KeyRow): Promise<ApiKey> =>
  present(row, await spentBy(reader, row.id), clock.now())

/** `GET /keys/{id}`. */
export const getKey =
  (deps: KeyDeps) =>
  async ({ caller }: Call, id: string): Promise<ApiKey> =>
    presentSpent(deps, deps.store.read, await findOwn(deps, deps.store.read, caller, id))

/** `GET /keys`: newest first, including revoked ones. */
export const listKeys =
  (deps: KeyDeps) =>
  async ({ caller }: Call, query: PageQuery): Promise<Page<ApiKey>> => {
    const { read } = deps.store
    return presentPage(deps, await rows.list(read, await scopeOf(deps, read, caller), query))
  }

export async function presentPage(deps: KeyDeps, page: Page<KeyRow>): Promise<Page<ApiKey>> {
  return { ...page, items: await Promise.all(page.items.map((row) => presentSpent(deps, deps.store.read, row))) }
}
