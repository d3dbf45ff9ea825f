import { type KeyCaller, keyIdOf, type OwnerScope, ownerOf, type TenantCaller } from '../kernel/caller'
import type { KeyId } from '../kernel/ids'
import { centsToMicro } from '../kernel/money'

/** Micro-cents. `available` is what a new reservation may claim. */
export type Balance = { balance: number; held: number; available: number }

/** Micro-cents a UTC day and a UTC month; null is no cap. */
export type Caps = { daily: number | null; monthly: number | null }

/** Who pays: an owner's wallet, and the key whose caps and spending count. */
export type Payer = { owner: OwnerScope; keyId: KeyId | null; caps: Caps }

/** `ref` names the work once and for all: the same one can be reserved, settled and released only once. */
export type Reservation = Payer & { ref: string; amount: number }

/** A claim that was taken: what ends it needs to know of it. Micro-cents and epoch ms. */
export type Hold = {
  ref: string
  owner: OwnerScope
  keyId: KeyId | null
  /** The key has caps, so the amount also stands in its day. */
  capped: boolean
  amount: number
  createdAt: number
}

/** What is left of a grant that ends. Micro-cents and epoch ms. */
export type Lot = { ref: string; remaining: number; expiresAt: number }

/** Money from outside the service into a wallet. `ref` makes it happen once, however often it is told. */
export type Grant = { owner: OwnerScope; amount: number; ref: string; kind: GrantKind; note: string | null } & {
  /** Epoch ms at which what is left of it is taken back; without one it stays. */
  expiresAt?: number | null
}
export const GRANT_KINDS = ['initial', 'grant', 'purchase', 'restore'] as const
export type GrantKind = (typeof GRANT_KINDS)[number]

const NO_CAPS: Caps = { daily: null, monthly: null }

/** The wallet, key and caps behind a caller. */
export const payerOf = (caller: TenantCaller): Payer => ({
  owner: ownerOf(caller),
  keyId: keyIdOf(caller),
  caps: caller.type === 'key' ? capsOf(caller) : NO_CAPS,
})

const capsOf = ({ dailyCapCents, monthlyCapCents }: KeyCaller): Caps => ({
  daily: dailyCapCents === null ? null : centsToMicro(dailyCapCents),
  monthly: monthlyCapCents === null ? null : centsToMicro(monthlyCapCents),
})

/** The server's own accounts: what it earned, and what it issued as credit. */
export const REVENUE = 'revenue'
export const ISSUED = 'issued'

/**
 * A ref for one request's hold that sorts by time, so that the indexes of holds and ledger grow at
 * their end: random refs cost twice the write.
 */
export const refOf = (requestId: string, at: number): string => `${at.toString(36)}.${requestId}`

/** The request behind a ref, for the record. */
export const requestOf = (ref: string): string => ref.slice(ref.indexOf('.') + 1)

export { BillingLimits, LimitsPatch } from './limits-schema'
