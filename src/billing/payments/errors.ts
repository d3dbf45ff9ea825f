import { defineErrors } from '../../kernel/errors'

export const paymentErrors = {
  ...defineErrors('service_unavailable', {
    processorUnavailable: 'The payment processor did not answer. Nothing was charged; try again shortly.',
  }),
  ...defineErrors('team_billing_setup_required', {
    teamSetupRequired:
      'This organization has no payment method yet. Buy credit once with POST /billing/checkout and "scope": "org"; ' +
      'the portal opens after that.',
  }),
  ...defineErrors('validation_error', {
    unsignedEvent:
      'The signature does not match this body, or it is older than 5 minutes. The event was not processed.',
  }),
  ...defineErrors('conflict', {
    notManualCheckout: (id: string) => `The payment processor completes checkout ${id} by itself. Nothing was changed.`,
    codeRefused: 'This code is unknown, used or expired. Nothing was added; ask its issuer for another.',
    codeAmountMismatch: (codeCents: number, orderedCents: number) =>
      `This code is worth ${dollars(codeCents)} and this checkout is for ${dollars(orderedCents)}. ` +
      'Start a checkout for the amount of the code. The code can still be used.',
    checkoutEnded: (state: string, why: string | null) =>
      `This checkout is ${state}. ${why ? `${why} Nothing was added.` : 'Nothing was added; start another.'}`,
  }),
}

export const ORG_GONE = 'The organization that would receive the credit was deleted.'

/** `50.00 USD`; with fractions of a cent `50.0012 USD`. */
export const dollars = (cents: number): string => `${(cents / 100).toFixed(4).replace(/00$/, '')} USD`
