import type { OwnerScope } from '../kernel/caller'
import { hmacHex } from '../kernel/crypto'

/**
 * The secret that signs calls to an owner's tool endpoints, one per user or org: 64 hexadecimal characters, used as
 * they are written. Derived from the master key, so it is the same on every node and only changes with that key.
 */
export const createSecretOf =
  (masterKey: Uint8Array) =>
  (owner: OwnerScope): string =>
    hmacHex(masterKey, `tool endpoints\n${owner}`)
