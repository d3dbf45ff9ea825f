import { setting } from '../kernel/config'
import { t } from '../kernel/schema'

/** Settings of the formats that clients of other services speak. */
export const doorSettings = {
  responsesTtlDays: setting({
    env: 'SVC_RESPONSES_TTL_DAYS',
    schema: t.Integer({ minimum: 0, maximum: 365 }),
    default: 30,
    about: 'Days for which a response is stored after its last use; 0 stores none.',
  }),
} as const
