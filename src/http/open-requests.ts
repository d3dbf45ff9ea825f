import { AppError } from '../kernel/errors'

/** Counts an open request of an address until the returned function is called. Throws 503 `service_unavailable`. */
export type EnterRequest = (address: string) => () => void

const tooManyOpen = (max: number) =>
  new AppError(
    'unavailable',
    'service_unavailable',
    `This address has ${max} requests open already, the most before they authenticate. Try again in a second.`,
    { retryAfterS: 1 },
  )

/**
 * Limits the open requests of each address before they authenticate. Only behind proxies is this needed: there one
 * connection is not one client's, and elsewhere an address has no more requests than connections.
 */
export function createOpenRequests(perAddress: number): EnterRequest {
  const open = new Map<string, number>()
  return (address) => {
    const count = open.get(address) ?? 0
    if (count >= perAddress) throw tooManyOpen(perAddress)
    open.set(address, count + 1)
    return () => {
      const left = (open.get(address) ?? 1) - 1
      if (left) open.set(address, left)
      else open.delete(address)
    }
  }
}
