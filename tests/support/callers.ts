import type { Call, Caller, KeyCaller, OperatorCaller, SessionCaller } from '../../src/kernel/caller'
import { KeyId, newRequestId, SessionId, UserId } from '../../src/kernel/ids'

/** A personal key on the free tier with every scope, of a new user. */
export const keyCaller = (overrides: Partial<KeyCaller> = {}): KeyCaller => ({
  type: 'key',
  userId: UserId.create(),
  keyId: KeyId.create(),
  secretHash: null,
  orgId: null,
  activeOrgId: null,
  scopes: ['completions', 'skills', 'tools', 'connectors', 'billing'],
  tier: 'free',
  rpmLimit: null,
  tpmLimit: null,
  dailyCapCents: null,
  monthlyCapCents: null,
  allowedOrigins: [],
  hasBrandSoul: false,
  chatParameters: 'by_base',
  guardrailPolicyId: null,
  bindings: '',
  ...overrides,
})

export const sessionCaller = (overrides: Partial<SessionCaller> = {}): SessionCaller => ({
  type: 'session',
  userId: UserId.create(),
  sessionId: SessionId.create(),
  orgId: null,
  activeOrgId: null,
  ...overrides,
})

export const operatorCaller = (overrides: Partial<OperatorCaller> = {}): OperatorCaller => ({
  type: 'operator',
  role: 'admin',
  name: 'priya',
  transport: 'socket',
  reason: 'ticket 7',
  ...overrides,
})

export const callOf = <C extends Caller>(caller: C, route = 'POST /completions'): Call<C> => ({
  caller,
  requestId: newRequestId(),
  route,
  signal: new AbortController().signal,
})
