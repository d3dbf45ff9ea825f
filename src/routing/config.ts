import { setting } from '../kernel/config'
import { t } from '../kernel/schema'

export const preferenceSettings = {
  maxPreferences: setting({
    env: 'SVC_MAX_PREFERENCES',
    schema: t.Integer({ minimum: 1, maximum: 1_000_000 }),
    default: 500,
    about: 'How many routing preferences one person or organization can have.',
  }),
}
