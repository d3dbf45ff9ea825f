import type { Guard } from '../http/guard'
import type { OperatorEdge } from '../http/operator-edge'
import { operatorRoutes, tenantRoutes, verb } from '../http/verbs'
import type { ChannelService } from './channels'
import { Channels } from './channels-schema'

/** `/channels` (contract 21), for tenants and operators. */
const verbsOf = ({ list }: ChannelService) =>
  [
    verb(
      {
        method: 'get',
        path: '/channels',
        holds: ['name'],
        reply: Channels,
        owned: true,
        summary: 'List the channels that people wrote from, last used first',
        description:
          'Channels come from `metadata.channel` of completions, and from `metadata.channel_name` if there are several. A channel is idle after seven days without messages.',
      },
      (call, { owner }) => list(call, owner),
    ),
  ] as const

export const channelRoutes = (service: ChannelService, guard: Guard) =>
  tenantRoutes(verbsOf(service), guard, { scope: 'connectors', tag: 'Channels' })

export const channelOperatorRoutes = (service: ChannelService, edge: OperatorEdge) =>
  operatorRoutes(verbsOf(service), edge)
