import { setting } from '../../kernel/config'
import { t } from '../../kernel/schema'

const Bound = t.Integer({ minimum: 1, maximum: 1_000_000 })

export const keySettings = {
  maxKeysPerPerson: setting({
    env: 'SVC_MAX_KEYS_PER_PERSON',
    schema: Bound,
    default: 100,
    about: 'How many active personal API keys one person can have.',
  }),
  maxKeysPerOrg: setting({
    env: 'SVC_MAX_KEYS_PER_ORG',
    schema: Bound,
    default: 500,
    about: 'How many active API keys one organization can have.',
  }),
}
