import type { UserId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'
import type { Settings } from './settings-schema'

export const userSettings = defineTable((k) =>
  k.table('user_settings', {
    user_id: k.text('user_id').$type<UserId>().primaryKey(),
    default_mode: k.text('default_mode').$type<Settings['default_mode']>().notNull(),
    personality: k.text('personality').$type<Settings['personality']>().notNull(),
    timezone: k.text('timezone').notNull(),
    svc_branding: k.bool('svc_branding').notNull(),
    keep_bodies: k.bool('keep_bodies').notNull().default(false),
    keep_bodies_days: k.int('keep_bodies_days').notNull().default(7),
    shortcuts: k.bool('shortcuts').notNull().default(true),
    updated_at: k.ms('updated_at').notNull(),
  }),
)
export type SettingsRow = Row<typeof userSettings>
