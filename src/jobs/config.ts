import { setting } from '../kernel/config'
import { t } from '../kernel/schema'

export const jobSettings = {
  jobLeaseSeconds: setting({
    env: 'SVC_JOB_LEASE_SECONDS',
    schema: t.Integer({ minimum: 5, maximum: 3_600 }),
    default: 30,
    about: 'Seconds a worker can be silent before another worker takes its jobs.',
  }),
}
