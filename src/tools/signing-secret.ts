import { type Call, ownerOf } from '../kernel/caller'
import { hmacHex } from '../kernel/crypto'

/**
 * The secret that signs calls to an owner's tool endpoints, one per user or org. It is derived from the master key,
 * not stored: the same on every node and after a restart, but it can only be rotated with the master key. 64
 * hexadecimal characters, used as they are written.
 */
export const createSecretOf =
  (masterKey: Uint8Array) =>
  ({ caller }: Call): string =>
    hmacHex(masterKey, `tool endpoints\n${ownerOf(caller)}`)
