import { defineEvent } from '../events'

/** `credits.low` (contract 14.2): the balance fell below the owner's threshold. */
export const creditsLow = defineEvent<{
  scope: 'user' | 'org'
  org_id: string | null
  balance_cents: number
  threshold_cents: number
}>('credits.low')
