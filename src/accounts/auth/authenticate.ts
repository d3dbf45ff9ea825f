import type { TenantCaller } from '../../kernel/caller'
import type { AppError } from '../../kernel/errors'
import type { KeyLookup } from '../keys/lookup'
import { invalidSession, unknownKey } from './errors'
import { type CredentialHeaders, readCredential } from './rules'
import type { Sessions } from './sessions'

type Deps = { keys: Pick<KeyLookup, 'find'>; sessions: Pick<Sessions, 'find'> }

/**
 * Finds the caller of a request from its headers; synchronous when the credential is cached. Throws 401
 * `invalid_api_key`, or `invalid_session` for a session token (contract 1.2).
 */
export function createAuthenticator({ keys, sessions }: Deps) {
  return (headers: CredentialHeaders): TenantCaller | Promise<TenantCaller> => {
    const credential = readCredential(headers)
    if (credential.type === 'key') return orThrow(keys.find(credential.token), unknownKey)
    if (credential.type === 'session') return orThrow(sessions.find(credential.token), invalidSession)
    throw credential.refusal
  }
}

function orThrow<C extends TenantCaller>(found: C | null | Promise<C | null>, refuse: () => AppError): C | Promise<C> {
  if (found instanceof Promise) return found.then((caller) => orThrow(caller, refuse))
  if (!found) throw refuse()
  return found
}
