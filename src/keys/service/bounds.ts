import type { Caller } from '../../kernel/caller'
import type { Reader } from '../../kernel/store'
import { boundedKey } from '../errors'
import { keyRepository as rows } from '../repository'
import { boundOf } from '../rules'
import type { KeyRow } from '../table'

/** The key a call is made with, as it stands now; null for a session or an operator. */
export const keyInUse = async (reader: Reader, caller: Caller): Promise<KeyRow | null> =>
  caller.type === 'key' ? ((await rows.any(reader, caller.keyId)) ?? null) : null

/**
 * Caps and limits of a key mean nothing if it can make itself another one, and inheriting them would only
 * multiply them. So a key that was given any bound neither makes keys nor gets the secret of another.
 * Throws 403 `forbidden`.
 */
export async function assertUnbound(
  reader: Reader,
  caller: Caller,
  what: 'make keys' | 'give other keys a secret',
): Promise<void> {
  const own = await keyInUse(reader, caller)
  const bound = own && boundOf(own)
  if (bound) throw boundedKey(what, bound)
}
