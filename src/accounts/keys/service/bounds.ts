import type { Caller } from '../../../kernel/caller'
import type { Reader } from '../../../kernel/store'
import { boundedKey } from '../errors'
import { keyRepository as rows } from '../repository'
import { boundOf } from '../rules'
import type { KeyRow } from '../table'

/** What a bounded key may not do, because the other key would have no bounds. */
type Doing = 'create keys' | 'rotate other keys'

/** The calling key as it is stored now; null for a session or an operator. */
export const keyInUse = async (reader: Reader, caller: Caller): Promise<KeyRow | null> =>
  caller.type === 'key' ? ((await rows.any(reader, caller.keyId)) ?? null) : null

/**
 * Bounds of a key mean nothing if it can create another key without them, and copying them to the new key would
 * multiply them. So a key with any bound may neither create keys nor obtain another key's secret.
 * Throws 403 `forbidden`.
 */
export async function assertUnbound(reader: Reader, caller: Caller, what: Doing): Promise<void> {
  const own = await keyInUse(reader, caller)
  const bound = own && boundOf(own)
  if (bound) throw boundedKey(what, bound)
}
