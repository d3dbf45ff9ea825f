import { defineEvent } from '../events'
import type { Tier } from '../kernel/caller'
import type { KeyId } from '../kernel/ids'
import type { IncreaseId } from './schema'

/** What the outside is told when a key moves up (contract 14.2). */
export type Upgrade = {
  key_id: KeyId
  previous_tier: Tier
  tier: Tier
  rpm: number
  tpm: number
  /** Null when an operator moved it without having been asked. */
  increase_request_id: IncreaseId | null
}

export const rateLimitUpgraded = defineEvent<Upgrade>('rate_limit.upgraded')
