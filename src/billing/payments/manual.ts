import type { PaymentDriver } from './driver'

/**
 * The `manual` driver: no processor. A checkout leads to a page of this server, where a code that an
 * operator handed out completes it; so does `svc-admin credits grant --checkout ID`.
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
