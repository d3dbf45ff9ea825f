import { createAddressList } from '../kernel/addresses'

/** Finds the client's address from the peer's address and the `X-Forwarded-For` header. */
export type ClientAddress = (peer: string, forwardedFor: string | null) => string

/**
 * Finds the address by which sign-in attempts and anonymous requests are counted. The header is trusted only as far as
 * the operator's own proxies wrote it: read from its end, the first address that is not such a proxy is the client.
 * Without trusted proxies the header is ignored (C7).
 * @throws Error naming an entry of `trusted` that is not an address or a CIDR
 */
export function createClientAddress(trusted: readonly string[]): ClientAddress {
  const ours = createAddressList(trusted)
  return (peer, forwardedFor) => {
    if (!trusted.length || forwardedFor === null || !ours.has(peer)) return peer
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
