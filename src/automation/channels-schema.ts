import { defineId, type Id } from '../kernel/ids'
import { nullable, oneOf, type Static, Timestamp, t } from '../kernel/schema'

export const ChannelId = defineId('channel')
export type ChannelId = Id<'channel'>

export const CHANNEL_TYPES = ['telegram', 'whatsapp', 'web', 'widget'] as const
export type ChannelType = (typeof CHANNEL_TYPES)[number]
export type ChannelStatus = 'active' | 'idle'

/** Where people write from: derived from `metadata.channel` of completions (contract 21). */
const Channel = t.Object(
  {
    id: ChannelId.schema,
    type: oneOf(CHANNEL_TYPES),
    name: t.String(),
    status: oneOf(['active', 'idle'] as const),
    last_message_at: nullable(Timestamp),
  },
  { $id: 'Channel' },
)
export const Channels = t.Object({ channels: t.Array(Channel) })
export type Channels = Static<typeof Channels>
