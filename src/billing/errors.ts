import { defineErrors } from '../kernel/errors'
import { MAX_CENTS, spellCents } from '../kernel/money'

export const billingErrors = {
  ...defineErrors('insufficient_credits', {
    /** Amounts in micro-cents. All three are the 402s of docs/api.md 1.5, worded as in docs/operating.md 6.3 #8. */
    insufficientCredits: (available: number, reserved: number) =>
      `The balance is ${spellCents(available)} cents and this call reserves up to ${spellCents(reserved)}. ` +
      'Add credit or shorten the prompt. Nothing was charged.',
    noCredits: (available: number) =>
      `The balance is ${spellCents(available)} cents. Add credit to continue. Nothing was charged.`,
    toolsUnpaid:
      'The balance does not cover another engine call with the tool results, and no answer was produced yet. ' +
      'Add credit, or send fewer tools. Nothing was charged.',
    capReached: (holder: CapHolder, period: 'daily' | 'monthly', cap: number, used: number, reserved: number) =>
      `The ${period} cap of this ${holder} is ${spellCents(cap)} cents, ${spellCents(used)} of it is spent or reserved` +
      `${reserved > 0 ? ` and this call reserves up to ${spellCents(reserved)}` : ''}. ` +
      `Raise the cap or wait for the next ${period === 'daily' ? 'day' : 'month'} (UTC). Nothing was charged.`,
  }),
  ...defineErrors('service_unavailable', {
    /** This process missed its lease, so another one considered it dead and released its holds. */
    holdHasEnded:
      'The server was paused during this request and released its reservation. Nothing was charged; try again.',
  }),
  ...defineErrors('conflict', {
    walletFull: () =>
      `A balance cannot exceed ${MAX_CENTS} cents, the most that is stored exactly. Nothing was added; send a smaller amount.`,
    balanceTooLow: (available: number, amount: number) =>
      `${spellCents(-amount)} cents cannot be deducted: only ${spellCents(available)} cents are available. Nothing was changed.`,
  }),
  ...defineErrors('idempotency_conflict', {
    refAlreadyUsed: (ref: string) =>
      `${ref} is already in the ledger with another owner or amount. Nothing was changed; send another idempotency key.`,
  }),
  ...defineErrors('validation_error', {
    amountTooSmall:
      'The amount is less than a micro-cent (0.000001 cents), the smallest unit. Nothing was changed; send a larger amount.',
  }),
}

/** Whose cap was reached: the key's, the account's or the organization's. */
export type CapHolder = 'key' | 'account' | 'organization'
