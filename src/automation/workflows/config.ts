import { setting } from '../../kernel/config'
import { t } from '../../kernel/schema'

export const workflowSettings = {
  maxWorkflows: setting({
    env: 'SVC_MAX_WORKFLOWS',
    schema: t.Integer({ minimum: 1, maximum: 1_000_000 }),
    default: 500,
    about: 'How many workflows one person or organization can have.',
  }),
}
