import { AsyncLocalStorage } from 'node:async_hooks'
import { AppError } from './errors'
import type { KeyId, OrgId, SessionId, UserId } from './ids'
import type { Tx } from './store'

/** The five scopes of docs/api.md 1.2; a new key gets all of them unless it says otherwise. */
export const SCOPES = ['completions', 'skills', 'tools', 'connectors', 'billing'] as const
export type Scope = (typeof SCOPES)[number]

export const TIERS = ['free', 'starter', 'pro', 'enterprise'] as const
export type Tier = (typeof TIERS)[number]

/**
 * What parameters such as `top_p` do in chat completions: honoured, ignored, or as the base address says (docs/api.md
 * 33.1).
 */
export const CHAT_PARAMETERS = ['by_base', 'honor', 'ignore'] as const
export type ChatParameters = (typeof CHAT_PARAMETERS)[number]

export const OPERATOR_ROLES = ['viewer', 'support', 'reviewer', 'billing', 'admin'] as const
export type OperatorRole = (typeof OPERATOR_ROLES)[number]
/** Who sees what people wrote, and links that work for everyone who has them (docs/operating.md 2.2). */
export const seesContent = (role: OperatorRole): boolean => role === 'admin' || role === 'support'

export type KeyCaller = {
  type: 'key'
  userId: UserId
  keyId: KeyId
  /** SHA-256 of the secret that the request carried: a rotated key has several. Null for a caller without a request. */
  secretHash: string | null
  /** The session of the person who acts with the key by `X-Svc-As-Key`; `userId` is that person then. */
  sessionId?: SessionId | null
  /** The org of an org key: the org pays for the calls and its audit chain records them. Null for a personal key. */
  orgId: OrgId | null
  /** The org that team-scoped things go to: the key's own, else the user's active one (docs/api.md 1.2). */
  activeOrgId: OrgId | null
  scopes: readonly Scope[]
  tier: Tier
  rpmLimit: number | null
  tpmLimit: number | null
  dailyCapCents: number | null
  monthlyCapCents: number | null
  allowedOrigins: readonly string[]
  /** Whether answers under this key follow its brand soul, which the keys module stores. */
  hasBrandSoul: boolean
  chatParameters: ChatParameters
  /** The guardrail policy bound to the key. */
  guardrailPolicyId: string | null
  /** Fingerprint of everything bound to the key; empty when nothing is bound. */
  bindings: string
}

export type SessionCaller = {
  type: 'session'
  userId: UserId
  /** Null for work without a request that a session has made. */
  sessionId: SessionId | null
  /** Null but where a session acts on what is an organization's: what it makes of that is the organization's too. */
  orgId: OrgId | null
  activeOrgId: OrgId | null
}

/**
 * An operator, calling through the operator API; name and reason are recorded as they state them (docs/operating.md
 * 2.2).
 */
export type OperatorCaller = {
  type: 'operator'
  role: OperatorRole
  name: string
  transport: 'socket' | 'local' | 'remote'
  reason: string | null
  /** SHA-256 of the operator key of the request; absent where no key is needed. */
  secretHash?: string
  /** In a browser: whether the session and its role still stand. */
  isStill?: () => Promise<boolean>
  /** In a browser: whether the person proved who they are a short while ago. */
  isConfirmed?: () => Promise<boolean>
}

/** The authenticated caller. Every verb takes one, so HTTP, CLI, dashboard and loops obey the same rules. */
export type TenantCaller = KeyCaller | SessionCaller
export type Caller = TenantCaller | OperatorCaller

/** The owner of money, usage and audit records: an org or a single user. */
export type OwnerScope = `org:${string}` | `user:${string}`

export const ownerOf = (caller: Pick<TenantCaller, 'orgId' | 'userId'>): OwnerScope =>
  caller.orgId ? `org:${caller.orgId}` : `user:${caller.userId}`

export const keyIdOf = (caller: TenantCaller): KeyId | null => (caller.type === 'key' ? caller.keyId : null)

/**
 * Throws 403 `missing_scope`, naming what the key has and lacks, and the call: `POST /completions`. Sessions carry
 * every scope.
 */
export function requireScope(caller: TenantCaller, scope: Scope, call = 'this call'): void {
  if (caller.type !== 'key' || caller.scopes.includes(scope)) return
  const has = caller.scopes.length ? caller.scopes.join(', ') : 'nothing'
  throw new AppError(
    'forbidden',
    'missing_scope',
    `This key may use ${has}; ${call} needs the scope ${scope}. The key's owner can add it.`,
  )
}

/** Comes with a request that has an Idempotency-Key: the verb stores its answer through this (docs/api.md 1.7). */
export type Once = {
  /** The same for each try of the request. */
  readonly id: string
  /**
   * Stores the answer in the unit of work that makes the effect, under the route's status unless `status` is given.
   * Throws 409 when another request has taken over the key.
   */
  keep(tx: Tx, answer: unknown, status?: number): Promise<void>
  /** Told in the unit that charges for an answer which this error ended early; its caller gets the error. */
  broke?(tx: Tx, error: unknown): Promise<void>
}

/** The context of one call of a verb: its caller, request id and route. */
export type Call<C extends Caller = TenantCaller> = {
  readonly caller: C
  readonly requestId: string
  /** Method and pattern, such as `POST /completions`; never the values in the path. */
  readonly route: string
  /** Aborts when the client goes away or the server stops. */
  readonly signal: AbortSignal
  /** How many events led to this call, each by what another one had started; none for what a person asked. */
  readonly depth?: number | undefined
  /** Set only when the request carries an Idempotency-Key and the route accepts one. */
  readonly once?: Once | undefined
  /** Set for a line of a batch, which gives way to what people ask for. */
  readonly batch?: true
}

const works = new AsyncLocalStorage<Map<object, unknown>>()

/**
 * Runs one piece of work, such as a request or a run of a job. What it reads with {@link sameInWork} stays as it was at
 * its first read until its end, that of its stream included.
 */
export const asOneWork = <Args extends unknown[], T>(work: (...args: Args) => T, ...args: Args): T =>
  works.run(new Map(), work, ...args)

/** What `read` answered first in this piece of work, by `key`; outside of any, what it answers now. */
export function sameInWork<T>(key: object, read: () => T): T {
  const known = works.getStore()
  if (!known) return read()
  if (!known.has(key)) known.set(key, read())
  return known.get(key) as T
}
