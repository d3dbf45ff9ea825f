import { setting } from '../kernel/config'
import { t } from '../kernel/schema'

export const skillSettings = {
  sandboxRunsPerDay: setting({
    env: 'SVC_SANDBOX_RUNS_PER_DAY',
    schema: t.Integer({ minimum: 1 }),
    default: 200,
    about: 'How often a day (UTC) one user or org may try out skills in the sandbox, which costs nothing.',
  }),
}
