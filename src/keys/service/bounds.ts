import type { Caller, KeyCaller } from '../../kernel/caller'
import type { Reader } from '../../kernel/store'
import { boundedKey, escapesDefault, leavesDefault } from '../errors'
import { keyRepository as rows } from '../repository'
import { boundOf, ownerOfKey } from '../rules'
import type { KeyRow } from '../table'
import type { KeyDeps } from './deps'

/** What a bounded key may not do, because the other key would have no bounds. */
type Doing = 'create keys' | 'rotate other keys'
type Defaults = Pick<KeyDeps, 'defaultPolicyOf'>
type Held = Pick<KeyRow, 'guardrail_policy_id' | 'org_id' | 'user_id'>

/** The calling key as it is stored now; null for a session or an operator. */
export const keyInUse = async (reader: Reader, caller: Caller): Promise<KeyRow | null> =>
  caller.type === 'key' ? ((await rows.any(reader, caller.keyId)) ?? null) : null

/** The guardrail policy in force for a key: the one bound to it, else its owner's default (contract 12). */
const policyOver = async ({ defaultPolicyOf }: Defaults, reader: Reader, key: Held): Promise<string | null> =>
  key.guardrail_policy_id ?? (await defaultPolicyOf(reader, ownerOfKey(key)))

/** The policy in force for the calling key, and whether it has that or any other bound. */
export async function standingOf(
  deps: Defaults,
  reader: Reader,
  caller: KeyCaller,
): Promise<{ policy: string | null; isBounded: boolean }> {
  const own = await keyInUse(reader, caller)
  if (!own) return { policy: null, isBounded: false }
  const policy = await policyOver(deps, reader, own)
  return { policy, isBounded: policy !== null || boundOf(own) !== null }
}

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

/**
 * A default policy is over every key of its owner that has none bound, so a key under it may have more of these, but
 * no secret of a key that is under another policy or none. Throws 403 `forbidden`.
 */
export async function assertSharesPolicy(
  deps: Defaults,
  reader: Reader,
  caller: Caller,
  other: Held,
  what: Doing,
): Promise<void> {
  const own = await keyInUse(reader, caller)
  const policy = own && (await policyOver(deps, reader, own))
  if (policy && policy !== (await policyOver(deps, reader, other))) throw escapesDefault(what)
}

/**
 * A policy that is bound to a key takes the place of its owner's default. So a key may bind itself to no other than
 * that default, and a key with bounds may not bind others either. Throws 403 `forbidden`.
 */
export async function assertKeepsDefault(
  deps: Defaults,
  reader: Reader,
  caller: KeyCaller,
  before: KeyRow,
  policy: string | null | undefined,
): Promise<void> {
  if (!policy || before.guardrail_policy_id !== null) return
  const held = await policyOver(deps, reader, before)
  if (held === null || held === policy) return
  if (caller.keyId === before.id || (await standingOf(deps, reader, caller)).isBounded) throw leavesDefault()
}
