import { setting } from '../../kernel/config'
import { t } from '../../kernel/schema'

export const hookSettings = {
  maxHooks: setting({
    env: 'SVC_MAX_HOOKS',
    schema: t.Integer({ minimum: 1, maximum: 100_000 }),
    default: 200,
    about: 'How many hooks one person or organization can have.',
  }),
}
