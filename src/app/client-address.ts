import { LRUCache } from 'lru-cache'
import { type ClientAddress, createClientAddress } from '../http/client-address'
import { createAddressList } from '../kernel/addresses'
import { ConfigError } from '../kernel/config'
import type { Config } from './config'

/** Finds the client's address behind `SVC_TRUSTED_PROXIES`. Throws ConfigError for an invalid entry. */
export function clientAddressOf({
  trustedProxies,
  unix = '',
}: Pick<Config, 'trustedProxies'> & { unix?: string }): ClientAddress {
  return named(() => createClientAddress(entriesOf(trustedProxies), unix !== ''))
}

/**
 * Tells the addresses of `SVC_TRUSTED_PROXIES`; asked of each connection, so each address is read once.
 * @throws ConfigError for an invalid entry
 */
export function isTrustedProxy({ trustedProxies }: Pick<Config, 'trustedProxies'>): (address: string) => boolean {
  const entries = entriesOf(trustedProxies)
  if (!entries.length) return () => false
  const ours = named(() => createAddressList(entries))
  const known = new LRUCache<string, boolean>({ max: 10_000 })
  return (address) => {
    const isOurs = known.get(address) ?? ours.has(address)
    known.set(address, isOurs)
    return isOurs
  }
}

const entriesOf = (list: string): string[] => list.split(',').filter((entry) => entry.trim() !== '')

function named<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new ConfigError([`SVC_TRUSTED_PROXIES: ${(error as Error).message}.`])
  }
}
