import { setting } from '../../kernel/config'
import { t } from '../../kernel/schema'

export const orgSettings = {
  maxOrgsPerPerson: setting({
    env: 'SVC_MAX_ORGS_PER_PERSON',
    schema: t.Integer({ minimum: 1, maximum: 1_000_000 }),
    default: 50,
    about: 'How many organizations one person can own.',
  }),
}
