import { sql } from 'drizzle-orm'
import type { OperatorRole } from '../../kernel/caller'
import type { OrgId, UserId } from '../../kernel/ids'
import { defineTable, type Row } from '../../kernel/store'
import type { InvitationId, OrgType, PlatformRole, Role } from './schema'

export const users = defineTable(
  'users',
  (k) => ({
    id: k.text('id').$type<UserId>().primaryKey(),
    /** Lower case, so that one address is one account. */
    email: k.text('email').notNull(),
    name: k.text('name'),
    password_hash: k.text('password_hash'),
    platform_role: k.text('platform_role').$type<PlatformRole>(),
    /** The operator role in the console. With null the platform role decides. */
    operator_role: k.text('operator_role').$type<OperatorRole>(),
    active_org_id: k.text('active_org_id').$type<OrgId>(),
    disabled_at: k.ms('disabled_at'),
    created_at: k.ms('created_at').notNull(),
  }),
  (t, k) => [
    k.uniqueIndex('users_by_email').on(t.email),
    k.index('users_by_active_org').on(t.active_org_id),
    k.index('users_by_age').on(t.created_at, t.id),
  ],
)
export type UserRow = Row<typeof users>

export const orgs = defineTable(
  'orgs',
  (k) => ({
    id: k.text('id').$type<OrgId>().primaryKey(),
    name: k.text('name').notNull(),
    /** A deleted org has its id here, which frees its slug. */
    slug: k.text('slug').notNull(),
    type: k.text('type').$type<OrgType>().notNull(),
    /** An operator's note about the plan. Members never see it. */
    plan_note: k.text('plan_note'),
    suspended_at: k.ms('suspended_at'),
    /** Deleted orgs keep their row, because their ledger and audit chain stay. */
    deleted_at: k.ms('deleted_at'),
    created_at: k.ms('created_at').notNull(),
    updated_at: k.ms('updated_at').notNull(),
  }),
  (t, k) => [
    k.uniqueIndex('orgs_by_slug').on(t.slug),
    k.index('orgs_by_age').on(t.created_at, t.id).where(sql`${t.deleted_at} is null`),
  ],
)
export type OrgRow = Row<typeof orgs>

export const members = defineTable(
  'members',
  (k) => ({
    org_id: k.text('org_id').$type<OrgId>().notNull(),
    user_id: k.text('user_id').$type<UserId>().notNull(),
    role: k.text('role').$type<Role>().notNull(),
    joined_at: k.ms('joined_at').notNull(),
    /** Copy of the org's `created_at`, for the index that lists a user's orgs. */
    org_created_at: k.ms('org_created_at').notNull(),
  }),
  (t, k) => [
    k.primaryKey({ columns: [t.org_id, t.user_id] }),
    k.index('members_by_user').on(t.user_id, t.org_created_at, t.org_id),
  ],
)
/** Without `org_created_at`, which `memberRows.insert` looks up. */
export type MemberRow = Omit<Row<typeof members>, 'org_created_at'>

/** At most one per org and address: inviting again replaces the earlier one. */
export const invitations = defineTable(
  'invitations',
  (k) => ({
    id: k.text('id').$type<InvitationId>().primaryKey(),
    org_id: k.text('org_id').$type<OrgId>().notNull(),
    email: k.text('email').notNull(),
    role: k.text('role').$type<Role>().notNull(),
    token_hash: k.text('token_hash').notNull(),
    /** Null when an operator sent the invitation. */
    invited_by: k.text('invited_by').$type<UserId>(),
    created_at: k.ms('created_at').notNull(),
    expires_at: k.ms('expires_at').notNull(),
    accepted_at: k.ms('accepted_at'),
  }),
  (t, k) => [
    k.uniqueIndex('invitations_by_org_email').on(t.org_id, t.email),
    k.uniqueIndex('invitations_by_token').on(t.token_hash),
  ],
)
export type InvitationRow = Row<typeof invitations>
