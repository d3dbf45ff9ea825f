/** Keys: API keys from mint to revocation, and the way from a key to its caller. */
export { type KeyFacts, keyCreated, keyRevoked } from './events'
export { flushLastUsed, startLastUsedLoop } from './last-used-loop'
export { createKeyLookup, type KeyLookup } from './lookup'
export type { Spent } from './present'
export { createKeys, type KeyService } from './service'
export type { OperatorKeyOrder } from './service/operate'
export type { TieredKey, TierSubject } from './service/tier'
export { mintSecret, recogniseSecret } from './token'
