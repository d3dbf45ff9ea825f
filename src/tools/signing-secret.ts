import { type Call, ownerOf } from '../kernel/caller'
import { hmacHex } from '../kernel/crypto'

/**
 * The secret that signs calls to an owner's tool endpoints: one for each user, one for each org. It is
 * worked out from the master key instead of being stored, so it is the same on every node and after every
 * restart, and cannot be changed alone. 64 hexadecimal characters, used as they are written.
 */
export const createSecretOf =
  (masterKey: Uint8Array) =>
  ({ caller }: Call): string =>
    hmacHex(masterKey, `tool endpoints\n${ownerOf(caller)}`)
