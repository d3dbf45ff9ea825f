import type { PaymentDriver } from './driver'

/**
 * The `manual` driver, without a processor. A checkout leads to a page of this server and is completed there with
 * a code from an operator, or with `svc-admin credits grant --checkout ID`.
 */
export const createManualDriver = ({ pageOf }: { pageOf(purchaseId: string): string }): PaymentDriver => ({
  name: 'manual',
  createCustomer: async () => null,
  openCheckout: async ({ purchaseId }) => ({ url: pageOf(purchaseId), session: null }),
  openPortal: async () => null,
  charge: null,
  purchaseOf: async () => null,
  readEvent: async () => null,
})
