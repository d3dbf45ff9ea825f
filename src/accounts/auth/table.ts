import type { SessionId, UserId } from '../../kernel/ids'
import { defineTable, type Row } from '../../kernel/store'

export const sessions = defineTable(
  'sessions',
  (k) => ({
    id: k.text('id').$type<SessionId>().primaryKey(),
    user_id: k.text('user_id').$type<UserId>().notNull(),
    token_hash: k.text('token_hash').notNull(),
    created_at: k.ms('created_at').notNull(),
    last_seen_at: k.ms('last_seen_at').notNull(),
    expires_at: k.ms('expires_at').notNull(),
    /** When a sign-in link opened the session. Null if a password opened it. */
    link_at: k.ms('link_at'),
    /** When the user last proved their identity, by password or link. Null for sessions of older releases. */
    proved_at: k.ms('proved_at'),
    /** IP address that opened the session. */
    ip: k.text('ip'),
    user_agent: k.text('user_agent'),
  }),
  (t, k) => [
    k.uniqueIndex('sessions_by_token').on(t.token_hash),
    k.index('sessions_by_user').on(t.user_id),
    k.index('sessions_by_expiry').on(t.expires_at),
  ],
)
export type SessionRow = Row<typeof sessions>

/** Failed sign-ins of the last minutes. A job removes old rows. */
export const signInFailures = defineTable(
  'sign_in_failures',
  (k) => ({
    /** Keyed hash of the account, of the network, or of both. */
    subject: k.text('subject').primaryKey(),
    /** Times of the failures, in epoch ms. At most as many as the limit allows. */
    times: k.json<number[]>('times').notNull(),
    last_at: k.ms('last_at').notNull(),
  }),
  (t, k) => [k.index('sign_in_failures_by_age').on(t.last_at)],
)

/** The networks each account signed in from. Both columns are keyed hashes. */
export const signInPlaces = defineTable(
  'sign_in_places',
  (k) => ({
    account: k.text('account').notNull(),
    network: k.text('network').notNull(),
    last_at: k.ms('last_at').notNull(),
  }),
  (t, k) => [k.primaryKey({ columns: [t.account, t.network] }), k.index('sign_in_places_by_age').on(t.last_at)],
)
export type SignInPlaceRow = Row<typeof signInPlaces>

/** Links that sign one person in, once: a row is removed when its link is used. */
export const signInLinks = defineTable(
  'sign_in_links',
  (k) => ({
    token_hash: k.text('token_hash').primaryKey(),
    user_id: k.text('user_id').$type<UserId>().notNull(),
    /** Path of the page that the link opens. */
    leads_to: k.text('leads_to').notNull(),
    /** By the clock of the database. */
    expires_at: k.ms('expires_at').notNull(),
  }),
  (t, k) => [k.index('sign_in_links_by_user').on(t.user_id), k.index('sign_in_links_by_expiry').on(t.expires_at)],
)
export type SignInLinkRow = Row<typeof signInLinks>
