import { setting } from '../kernel/config'
import { t } from '../kernel/schema'

export const httpSettings = {
  bodySeconds: setting({
    env: 'SVC_BODY_SECONDS',
    schema: t.Integer({ minimum: 1, maximum: 600 }),
    default: 15,
    about: 'Seconds that any request body may take; after them it must have come with 1 KB a second.',
  }),
}
