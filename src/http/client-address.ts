import { createAddressList } from '../kernel/addresses'

/** Who stands behind a connection: its own address, and the `X-Forwarded-For` it came with. */
export type ClientAddress = (peer: string, forwardedFor: string | null) => string

/**
 * The address that sign-in attempts and anonymous requests are counted by. A header is believed only as
 * far as it was written by proxies of the operator's own: read from its end, the first address that is
 * none of them is the client. Without such proxies the header has no say (reliability C7).
 * @throws Error naming an entry of `trusted` that is not an address or a CIDR
 */
export function createClientAddress(trusted: readonly string[]): ClientAddress {
  const ours = createAddressList(trusted)
  return (peer, forwardedFor) => {
    if (!trusted.length || forwardedFor === null || !ours.has(peer)) return peer
    let client = peer
    for (const hop of forwardedFor.split(',').reverse()) {
      const address = ours.read(hop.trim())
      // What nobody of ours can have written ends the chain: the last one who is known is it.
      if (address === null) return client
      client = address
      if (!ours.has(address)) return client
    }
    return client
  }
}
