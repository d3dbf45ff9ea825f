import { setting } from '../kernel/config'
import { t } from '../kernel/schema'

export const eventSettings = {
  eventsRetentionDays: setting({
    env: 'SVC_EVENTS_RETENTION_DAYS',
    schema: t.Integer({ minimum: 7, maximum: 3_650 }),
    default: 30,
    about: 'Days after which events and webhook delivery logs are deleted.',
  }),
}
