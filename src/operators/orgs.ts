import { actingUserOf, findOwner, type KeyService, type OrgRow, type OrgService } from '../accounts'
import type { Billing } from '../billing'
import type { Call, OperatorCaller } from '../kernel/caller'
import { iso } from '../kernel/clock'
import { notFound } from '../kernel/errors'
import { microToCents } from '../kernel/money'
import type { Page, PageQuery } from '../kernel/page'
import type { Reader, Store } from '../kernel/store'
import type { NewOperatorOrg, OperatorOrg, OperatorOrgPatch, OrgDetail } from './schema-people'

type Deps = { store: Store; orgs: OrgService; keys: KeyService; billing: Pick<Billing, 'balance'> }
type OperatorCall = Call<OperatorCaller>

/** What operators do with any org (dx 2.9). */
export function createOrgVerbs({ store, orgs, keys, billing }: Deps) {
  return { list, get, create, update, remove }

  /** Newest first, without deleted ones. */
  async function list(_call: OperatorCall, query: PageQuery): Promise<Page<OperatorOrg>> {
    const page = await orgs.all(store.read, query)
    return { ...page, items: await present(store.read, page.items) }
  }

  /** By id, slug or exact name, with members, keys and balance. */
  async function get(call: OperatorCall, ref: string): Promise<OrgDetail> {
    const row = await orgs.find(store.read, ref)
    const [org] = await present(store.read, [row])
    const wallet = await billing.balance(store.read, `org:${row.id}`)
    return {
      ...org!,
      key_count: await keys.count(call, row.id),
      balance_cents: microToCents(wallet.balance),
      held_cents: microToCents(wallet.held),
    }
  }

  /** For a user, or for the account the first run created. Throws 404 for an unknown owner, 409 for a taken slug. */
  async function create(call: OperatorCall, { owner, plan_note, ...input }: NewOperatorOrg): Promise<OperatorOrg> {
    const userId = actingUserOf(await findOwner(orgs, store.read, owner))
    return store.write(async (tx) => {
      const created = await orgs.createOrg(tx, call, userId, input)
      return presentOne(tx, plan_note ? await orgs.change(tx, call, created, { plan_note }) : created)
    })
  }

  /** Throws 409 for a taken slug. */
  function update(call: OperatorCall, ref: string, patch: OperatorOrgPatch): Promise<OperatorOrg> {
    return store.write(async (tx) => {
      const { name, slug, type, plan_note } = patch
      const before = await findOpen(tx, ref)
      await orgs.lock(tx, before.id)
      return presentOne(tx, await orgs.change(tx, call, before, { name, slug, type, plan_note }))
    })
  }

  /** Deletes an org: its keys are revoked and its members removed; credit and audit chain stay. */
  function remove(call: OperatorCall, ref: string): Promise<OperatorOrg> {
    return store.write(async (tx) => {
      const before = await findOpen(tx, ref)
      await orgs.lock(tx, before.id)
      await orgs.end(tx, call, before)
      return presentOne(tx, await orgs.find(tx, before.id))
    })
  }

  async function findOpen(reader: Reader, ref: string): Promise<OrgRow> {
    const row = await orgs.find(reader, ref)
    if (row.deleted_at !== null) throw notFound('organization')
    return row
  }

  async function presentOne(reader: Reader, row: OrgRow): Promise<OperatorOrg> {
    return (await present(reader, [row]))[0]!
  }

  async function present(reader: Reader, rows: readonly OrgRow[]): Promise<OperatorOrg[]> {
    const counts = await orgs.memberCounts(
      reader,
      rows.map(({ id }) => id),
    )
    return rows.map((row) => presentOrg(row, counts.get(row.id) ?? 0))
  }
}

const presentOrg = (row: OrgRow, memberCount: number): OperatorOrg => ({
  id: row.id,
  object: 'organization',
  name: row.name,
  slug: row.slug,
  type: row.type,
  member_count: memberCount,
  plan_note: row.plan_note,
  suspended_at: row.suspended_at === null ? null : iso(row.suspended_at),
  deleted_at: row.deleted_at === null ? null : iso(row.deleted_at),
  created: iso(row.created_at),
  updated: iso(row.updated_at),
})
