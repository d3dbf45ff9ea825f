import { type ClientAddress, createClientAddress } from '../http/client-address'
import { ConfigError } from '../kernel/config'
import type { Config } from './config'

/** Finds the client's address behind `SVC_TRUSTED_PROXIES`. Throws ConfigError for an invalid entry. */
export function clientAddressOf({ trustedProxies }: Pick<Config, 'trustedProxies'>): ClientAddress {
  try {
    return createClientAddress(trustedProxies.split(',').filter((entry) => entry.trim() !== ''))
  } catch (error) {
    throw new ConfigError([`SVC_TRUSTED_PROXIES: ${(error as Error).message}.`])
  }
}
