import { setting } from '../kernel/config'
import { t } from '../kernel/schema'

export const httpSettings = {
  bodySeconds: setting({
    env: 'SVC_BODY_SECONDS',
    schema: t.Integer({ minimum: 1, maximum: 600 }),
    default: 15,
    about: 'Seconds a request body can take. After that it must average 1 KB a second.',
  }),
  connectionsPerAddress: setting({
    env: 'SVC_CONNECTIONS_PER_ADDRESS',
    schema: t.Integer({ minimum: 1 }),
    default: 256,
    about: 'Maximum connections from one address without an authenticated request. Trusted proxies are exempt.',
  }),
  connections: setting({
    env: 'SVC_CONNECTIONS',
    schema: t.Integer({ minimum: 1 }),
    default: 10_000,
    about: 'Maximum connections in total without an authenticated request.',
  }),
}
