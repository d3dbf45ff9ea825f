/** Keys: API keys from creation to revocation, and the look-up from a key to its caller. */
export { keySettings } from './config'

export { flushLastUsed, startLastUsedLoop } from './last-used-loop'
export { createKeyLookup, type KeyLookup } from './lookup'

export { createKeys, type KeyService } from './service'
export type { BindableKey, KeyBindings } from './service/bind'

export type { TieredKey, TierSubject } from './service/tier'
export { mintSecret, recogniseSecret } from './token'
