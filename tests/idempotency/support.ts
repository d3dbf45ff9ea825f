import type { Idempotency, Request, Ticket } from '../../src/idempotency'
import { newRequestId, UserId } from '../../src/kernel/ids'

export const requestOf = (overrides: Partial<Request> = {}): Request => ({
  userId: UserId.create(),
  key: 'order-1',
  requestId: newRequestId(),
  fingerprint: 'f',
  status: 201,
  ...overrides,
})

export const retryOf = (request: Request): Request => ({ ...request, requestId: newRequestId() })

/** The right to run a request that has no answer yet. */
export async function ticketOf(request: Request, from: Idempotency): Promise<Ticket> {
  const found = await from.begin(request)
  if ('body' in found) throw new Error('there is an answer already')
  return found
}
