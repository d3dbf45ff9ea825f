import { keyIdOf, type OwnerScope, ownerOf, type TenantCaller } from '../kernel/caller'
import type { KeyId } from '../kernel/ids'
import { centsToMicro } from '../kernel/money'
import type { Escrow } from './escrow'

export { Price, PriceTable } from './prices'

/** Micro-cents. `available` is what a new hold may claim. */
export type Balance = { balance: number; held: number; available: number }

/** Micro-cents per UTC day and UTC month; null means no cap. */
export type Caps = { daily: number | null; monthly: number | null }

/** Who pays: the owner's wallet, and the key whose caps and spending count. */
export type Payer = { owner: OwnerScope; keyId: KeyId | null; caps: Caps }

/** `ref` identifies the work: each ref can be reserved, settled and released only once. */
export type Reservation = Payer & {
  ref: string
  amount: number
  /** The hold lasts until the job ends, in any process. */
  forJob?: boolean
  /** The hold lasts until the row of a browser session ends it. */
  forSession?: boolean
}

/** Used as the process of a hold that belongs to a job. */
export const OF_JOBS = 'jobs'
/** Used as the process of a hold that belongs to a browser session. */
export const OF_SESSIONS = 'sessions'
/** The last moment of the year 9999: it sorts after all others. */
export const NEVER = 253_402_300_799_999
/** Expiry of a shared hold that no call uses. If its process is killed, no call is recorded as interrupted. */
export const IDLE = NEVER - 1

/** Prefix of references of shared holds. References of their calls begin with the hold's reference. */
export const SHARED = 'escrow.'
/** Length of such a reference, including its id. */
export const SHARED_LENGTH = 35

/** An open hold, with what is needed to end it. Micro-cents and epoch ms. */
export type Hold = {
  ref: string
  owner: OwnerScope
  keyId: KeyId | null
  /** The key has caps, so the amount is also counted in its `spend_days`. */
  capped: boolean
  amount: number
  createdAt: number
  /** The shared hold that this one is a part of. */
  escrow?: Escrow
  /** For a part of a shared hold: it was charged or freed. */
  hasEnded?: boolean
  /** Whether the row is a shared hold that no call uses. */
  isIdle?: boolean
}

/** The rest of a grant that expires. Micro-cents and epoch ms. */
export type ExpiringGrant = { ref: string; remaining: number; expiresAt: number }

/** Credit added to a wallet from outside. It is added once per `ref`, however often it is requested. */
export type Grant = { owner: OwnerScope; amount: number; ref: string; kind: GrantKind; note: string | null } & {
  /** Epoch ms at which the unspent rest is taken back; null for credit that does not expire. */
  expiresAt?: number | null
}
const GRANT_KINDS = ['initial', 'grant', 'purchase', 'restore'] as const
type GrantKind = (typeof GRANT_KINDS)[number]

const NO_CAPS: Caps = { daily: null, monthly: null }

/** The wallet, key and caps behind a caller. */
export const payerOf = (caller: TenantCaller): Payer => ({
  owner: ownerOf(caller),
  keyId: keyIdOf(caller),
  caps:
    caller.type === 'key'
      ? {
          daily: caller.dailyCapCents === null ? null : centsToMicro(caller.dailyCapCents),
          monthly: caller.monthlyCapCents === null ? null : centsToMicro(caller.monthlyCapCents),
        }
      : NO_CAPS,
})

/** The server's own ledger accounts: revenue, and issued credit. */
export const REVENUE = 'revenue'
export const ISSUED = 'issued'

/**
 * A ref for one request's hold that sorts by time, so that the indexes of holds and ledger grow at their end: random
 * refs would double the cost of the write.
 */
export const refOf = (requestId: string, at: number): string => `${at.toString(36)}.${requestId}`

/** The request id in a ref, for the audit log. */
export const requestOf = (ref: string): string => ref.slice(ref.lastIndexOf('.') + 1)

export { BillingLimits, LimitsPatch } from './limits-schema'
