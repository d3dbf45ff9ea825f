import { setting } from '../kernel/config'
import { form } from '../kernel/form'
import { t } from '../kernel/schema'

export const webhookSettings = {
  maxWebhooks: setting({
    env: 'SVC_MAX_WEBHOOKS',
    schema: t.Integer({ minimum: 1, maximum: 100_000 }),
    default: 1_000,
    about: 'How many webhooks one person or organization can have, including disabled ones.',
  }),
  maxActiveWebhooks: setting({
    env: 'SVC_MAX_ACTIVE_WEBHOOKS',
    schema: t.Integer({ minimum: 1, maximum: 100_000 }),
    default: 20,
    about: 'How many enabled webhooks one person or organization can have.',
  }),
  webhookRetrySchedule: setting({
    env: 'SVC_WEBHOOK_RETRY_SCHEDULE',
    schema: t.String({
      pattern: form(
        '^\\d{1,6}(,\\d{1,6}){0,19}$',
        'one to 20 whole numbers of seconds, separated by commas without spaces, such as 0,5,300',
      ),
    }),
    default: '0,5,300,1800,7200,18000,36000,36000',
    about: 'Seconds before each delivery attempt of a webhook, counted from the previous attempt.',
  }),
}
