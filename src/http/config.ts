import { setting } from '../kernel/config'
import { t } from '../kernel/schema'

export const httpSettings = {
  bodySeconds: setting({
    env: 'SVC_BODY_SECONDS',
    schema: t.Integer({ minimum: 1, maximum: 600 }),
    default: 15,
    about: 'Seconds that any request body may take; after them it must have come with 1 KB a second.',
  }),
  connectionsPerAddress: setting({
    env: 'SVC_CONNECTIONS_PER_ADDRESS',
    schema: t.Integer({ minimum: 1 }),
    default: 256,
    about: 'Most connections of one address, proxies excepted, on which no request has authenticated.',
  }),
  connections: setting({
    env: 'SVC_CONNECTIONS',
    schema: t.Integer({ minimum: 1 }),
    default: 10_000,
    about: 'Most connections in all on which no request has authenticated.',
  }),
}
