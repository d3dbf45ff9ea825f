import { defineEvent } from '../events'
import type { Tier } from '../kernel/caller'
import type { KeyId } from '../kernel/ids'
import type { IncreaseId } from './schema'

/** Data of the event that a key moved to a higher tier (docs/api.md 14.2). */
export type Upgrade = {
  key_id: KeyId
  previous_tier: Tier
  tier: Tier
  rpm: number
  tpm: number
  /** Null when an operator changed the tier without a request. */
  increase_request_id: IncreaseId | null
}

export const rateLimitUpgraded = defineEvent<Upgrade>('rate_limit.upgraded')
