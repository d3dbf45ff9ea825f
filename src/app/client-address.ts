import { type ClientAddress, createClientAddress } from '../http/client-address'
import { ConfigError } from '../kernel/config'
import type { Config } from './config'

/** Who stands behind a connection, by `SVC_TRUSTED_PROXIES`. Throws ConfigError for an entry that is none. */
export function clientAddressOf({ trustedProxies }: Pick<Config, 'trustedProxies'>): ClientAddress {
  try {
    return createClientAddress(trustedProxies.split(',').filter((entry) => entry.trim() !== ''))
  } catch (error) {
    throw new ConfigError([`SVC_TRUSTED_PROXIES: ${(error as Error).message}.`])
  }
}
