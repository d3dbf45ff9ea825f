import { createAddressList } from '../kernel/addresses'

/** Finds the client's address from the peer's address and the `X-Forwarded-For` header. */
export type ClientAddress = (peer: string, forwardedFor: string | null) => string

/** Stands for the address of a peer that has none. */
export const WITHOUT_ADDRESS = 'local'

/**
 * Finds the address by which sign-in attempts and anonymous requests are counted. The header is trusted only as far as
 * the operator's own proxies wrote it: read from its end, the first address that is not such a proxy is the client.
 * Without trusted proxies the header is ignored (C7).
 * `onSocket`: the API listens on a socket, which only the operator's own proxy can open.
 * @throws Error naming an entry of `trusted` that is not an address or a CIDR
 */
export function createClientAddress(trusted: readonly string[], onSocket = false): ClientAddress {
  const ours = createAddressList(trusted)
  const isOurs = (peer: string) => (trusted.length > 0 && ours.has(peer)) || (onSocket && peer === WITHOUT_ADDRESS)
  return (peer, forwardedFor) => {
    if (forwardedFor === null || !isOurs(peer)) return peer
    let client = peer
    for (const hop of forwardedFor.split(',').reverse()) {
      const address = ours.read(hop.trim())
      // No trusted proxy writes an invalid address, so the last valid hop is the client.
      if (address === null) return client
      client = address
      if (!ours.has(address)) return client
    }
    return client
  }
}
