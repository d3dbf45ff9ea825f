import { defineError } from '../kernel/errors'
import { MOST_CENTS, spellCents } from '../kernel/money'

/** Amounts in micro-cents. All three are the 402s of contract 1.5, worded as in dx 6.3 #8. */
export const insufficientCredits = defineError(
  'unpaid',
  'insufficient_credits',
  (available: number, reserved: number) =>
    `The balance is ${spellCents(available)} cents and this call reserves up to ${spellCents(reserved)}. ` +
    'Add credit or shorten the prompt. Nothing was charged.',
)

export const noCredits = defineError(
  'unpaid',
  'insufficient_credits',
  (available: number) => `The balance is ${spellCents(available)} cents. Add credit to go on. Nothing was charged.`,
)

export const toolsUnpaid = defineError(
  'unpaid',
  'insufficient_credits',
  () =>
    'The balance does not cover another turn with the results of the tools, and nothing had been answered yet. ' +
    'Add credit, or allow fewer tools. Nothing was charged.',
)

/** Whose cap was reached: the key's, the account's or the organization's. */
export type CapHolder = 'key' | 'account' | 'organization'

export const capReached = defineError(
  'unpaid',
  'insufficient_credits',
  (whose: CapHolder, period: 'daily' | 'monthly', cap: number, used: number, reserved: number) =>
    `The ${period} cap of this ${whose} is ${spellCents(cap)} cents, ${spellCents(used)} of it is spent or reserved` +
    `${reserved > 0 ? ` and this call reserves up to ${spellCents(reserved)}` : ''}. ` +
    `Raise the cap or wait for the next ${period === 'daily' ? 'day' : 'month'} (UTC). Nothing was charged.`,
)

export const walletFull = defineError(
  'conflict',
  'conflict',
  () =>
    `A balance cannot be above ${MOST_CENTS} cents: it would not be exact any more. Nothing was added; ask for less.`,
)

export const otherMovement = defineError(
  'conflict',
  'idempotency_conflict',
  (ref: string) => `${ref} stands in the ledger for another owner or amount. Nothing was changed; take another key.`,
)

export const nothingMoves = defineError(
  'invalid',
  'validation_error',
  () => 'The amount is less than a micro-cent, the smallest there is. Nothing was changed.',
)

export const balanceTooLow = defineError(
  'conflict',
  'conflict',
  (available: number, amount: number) =>
    `${spellCents(-amount)} cents cannot be taken away: only ${spellCents(available)} is available. Nothing was changed.`,
)
