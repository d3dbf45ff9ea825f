import {
  createAttempts,
  createAuth,
  createAuthenticator,
  createPasswords,
  createSessions,
  createSessionUses,
  createSignInSteps,
  type VisitorCall,
} from '../../../src/accounts'
import type { OwnerScope } from '../../../src/kernel/caller'
import { newRequestId } from '../../../src/kernel/ids'
import type { Store } from '../../../src/kernel/store'
import { createWorld } from '../keys/world'

const passwords = createPasswords()
const MASTER_KEY = new Uint8Array(32)

export const visit = (route = 'POST /auth/sessions', ip = '192.0.2.1'): VisitorCall => ({
  requestId: newRequestId(),
  route,
  signal: new AbortController().signal,
  ip,
})

/** The modules up to auth, and what was granted to new accounts. */
export function createAuthWorld(store: Store) {
  const world = createWorld(store)
  const { audit, orgs, events, clock, lookup } = world
  const lastSeen = createSessionUses({ store, clock })
  const sessions = createSessions({ store, orgs, events, clock, lastSeen })
  const attempts = createAttempts({ store, clock, masterKey: MASTER_KEY })
  const granted: OwnerScope[] = []
  const auth = createAuth({
    store,
    audit,
    orgs,
    sessions,
    passwords,
    attempts,
    entry: createSignInSteps({ audit, orgs, sessions, attempts }),
    clock,
    production: false,
    signup: 'open',
    grantInitial: async (_tx, owner) => {
      granted.push(owner)
    },
  })
  const authenticate = createAuthenticator({ keys: lookup, sessions })
  const bearer = (token: string) => authenticate({ authorization: `Bearer ${token}`, cookie: null })

  let people = 0
  /** A new account with its first session. */
  const join = (password = 'correct horse') =>
    auth.signUp(visit('POST /auth/signup'), { email: `p${++people}.${crypto.randomUUID()}@example.com`, password })

  return { ...world, sessions, lastSeen, attempts, auth, authenticate, bearer, granted, join }
}
