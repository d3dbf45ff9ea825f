import { setting } from '../kernel/config'
import { TierTable } from './limiter'

export const rateLimitSettings = {
  tiers: setting({
    env: 'SVC_TIERS',
    schema: TierTable,
    default: {},
    about:
      'JSON merged over the tier table: per tier (free, starter, pro, enterprise) rpm, tpm, and the requests a minute ' +
      'of the mode groups text, stealth, image, research and video.',
  }),
}
