import type { OwnerScope } from '../kernel/caller'
import { defineTable, type Row } from '../kernel/store'
import type { ChannelId, ChannelStatus, ChannelType } from './channels-schema'

export const channels = defineTable((k) =>
  k.table(
    'channels',
    {
      id: k.text('id').$type<ChannelId>().primaryKey(),
      owner: k.text('owner').$type<OwnerScope>().notNull(),
      type: k.text('type').$type<ChannelType>().notNull(),
      name: k.text('name').notNull(),
      status: k.text('status').$type<ChannelStatus>().notNull(),
      last_message_at: k.ms('last_message_at').notNull(),
      created_at: k.ms('created_at').notNull(),
    },
    (t) => [
      k.uniqueIndex('channels_by_owner').on(t.owner, t.type, t.name),
      k.index('channels_by_silence').on(t.status, t.last_message_at),
    ],
  ),
)
export type ChannelRow = Row<typeof channels>
