import { setting } from '../kernel/config'
import { t } from '../kernel/schema'

export const skillSettings = {
  sandboxRunsPerDay: setting({
    env: 'SVC_SANDBOX_RUNS_PER_DAY',
    schema: t.Integer({ minimum: 1 }),
    default: 200,
    about: 'How many free sandbox runs of skills one user or organization gets a day (UTC).',
  }),
}
