import { type SQLWrapper, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { OrgId, UserId } from '../kernel/ids'
import type { Kit } from '../kernel/store'
import type { Moment } from './rows'

/** The columns that every resource has. */
export const ownedColumns = <Id extends string>(k: Kit) => ({
  id: k.text('id').$type<Id>().primaryKey(),
  /** The person, or the organization for a team's row. */
  owner: k.text('owner').$type<OwnerScope>().notNull(),
  /** The user who created it. */
  user_id: k.text('user_id').$type<UserId>().notNull(),
  /** Null for a person's own row. */
  org_id: k.text('org_id').$type<OrgId>(),
  name: k.text('name').notNull(),
  created_at: k.ms('created_at').notNull(),
  updated_at: k.ms('updated_at').notNull(),
})

type Indexed = Record<'id' | 'owner' | Moment, never> & { is_default?: SQLWrapper }

/**
 * The indexes of a resource's lists, by owner and by age in the column `moment`. With a column `is_default`, a unique
 * index permits one default per owner, also with concurrent requests.
 */
export const ownedIndexes = (k: Kit, name: string, columns: object, moment: Moment = 'created_at') => {
  const t = columns as Indexed
  return [
    k.index(`${name}_by_owner`).on(t.owner, t[moment], t.id),
    k.index(`${name}_by_age`).on(t[moment], t.id),
    ...(t.is_default ? [k.uniqueIndex(`${name}_default`).on(t.owner).where(sql`${t.is_default}`)] : []),
  ]
}
