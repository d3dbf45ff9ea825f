import { AsyncLocalStorage } from 'node:async_hooks'
import { AppError } from './errors'
import type { KeyId, OrgId, SessionId, UserId } from './ids'
import type { Tx } from './store'

/** The modes that a request may name (docs/api.md 2.1). */
export const MODES = [
  'auto',
  'fast',
  'think',
  'code',
  'image',
  'video',
  'research',
  'roast',
  'genui',
  'data_extraction',
  'domain_analysis',
  'vision',
  'stealth_text',
  'stealth_image',
  'stealth_video',
] as const
export type Mode = (typeof MODES)[number]

/** The modes in records of calls: those of requests, and those of routes that have no mode of a request. */
export const RECORDED_MODES = [...MODES, 'document', 'tts', 'stt', 'voice', 'embedding'] as const

/** The five scopes of docs/api.md 1.2. A new key gets all of them by default. */
export const SCOPES = ['completions', 'skills', 'tools', 'connectors', 'billing'] as const
export type Scope = (typeof SCOPES)[number]

export const TIERS = ['free', 'starter', 'pro', 'enterprise'] as const
export type Tier = (typeof TIERS)[number]

/** Effect of chat parameters such as `top_p`: honoured, ignored, or by the base address (docs/api.md 33.1). */
export const CHAT_PARAMETERS = ['by_base', 'honor', 'ignore'] as const
export type ChatParameters = (typeof CHAT_PARAMETERS)[number]

export const OPERATOR_ROLES = ['viewer', 'support', 'reviewer', 'billing', 'admin'] as const
export type OperatorRole = (typeof OPERATOR_ROLES)[number]
/** True for roles that may see people's texts, and links that work for everyone (docs/operating.md 2.2). */
export const seesContent = (role: OperatorRole): boolean => role === 'admin' || role === 'support'

export type KeyCaller = {
  type: 'key'
  userId: UserId
  keyId: KeyId
  /** SHA-256 of the request's secret, because a rotated key has several. Null for a caller without a request. */
  secretHash: string | null
  /** The session of the user who acts with the key by `X-Svc-As-Key`. `userId` is then that user. */
  sessionId?: SessionId | null
  /** The org of an org key, which pays for the calls and whose audit chain records them. Null for a personal key. */
  orgId: OrgId | null
  /** The org that owns team-scoped resources: the key's own, else the user's active one (docs/api.md 1.2). */
  activeOrgId: OrgId | null
  scopes: readonly Scope[]
  tier: Tier
  rpmLimit: number | null
  tpmLimit: number | null
  dailyCapCents: number | null
  monthlyCapCents: number | null
  allowedOrigins: readonly string[]
  /** True if answers under this key follow its brand soul, which the keys module stores. */
  hasBrandSoul: boolean
  chatParameters: ChatParameters
  /** The guardrail policy bound to the key. */
  guardrailPolicyId: string | null
  /** Fingerprint of everything bound to the key. Empty when nothing is bound. */
  bindings: string
}

export type SessionCaller = {
  type: 'session'
  userId: UserId
  /** Null for a session's work that runs without a request. */
  sessionId: SessionId | null
  /** Only set while a session acts on an organization's resource. What it creates then also belongs to it. */
  orgId: OrgId | null
  activeOrgId: OrgId | null
}

/** An operator of the operator API. Name and reason are recorded as the operator gives them (docs/operating.md 2.2). */
export type OperatorCaller = {
  type: 'operator'
  role: OperatorRole
  name: string
  transport: 'socket' | 'local' | 'remote'
  reason: string | null
  /** SHA-256 of the request's operator key. Absent if no key is needed. */
  secretHash?: string
  /** In a browser: checks that the session and its role are still valid. */
  isStill?: () => Promise<boolean>
  /** In a browser: checks that the person proved their identity recently. */
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

/** Throws 403 `missing_scope`, naming what the key has and lacks, and the call. Sessions have every scope. */
export function requireScope(caller: TenantCaller, scope: Scope, call = 'this call'): void {
  if (caller.type !== 'key' || caller.scopes.includes(scope)) return
  const has = caller.scopes.length ? caller.scopes.join(', ') : 'nothing'
  throw new AppError(
    'missing_scope',
    `This key may use ${has}; ${call} needs the scope ${scope}. The key's owner can add it.`,
  )
}

/** Given for a request with an Idempotency-Key. The verb stores its answer through this (docs/api.md 1.7). */
export type Once = {
  /** The same for each attempt of the request. */
  readonly id: string
  /**
   * Stores the answer in the unit of work that makes the effect, with the route's status unless `status` is given.
   * Throws 409 when another request has taken over the key.
   */
  keep(tx: Tx, answer: unknown, status?: number): Promise<void>
  /** Called in the unit that charges for an answer which this error ended early. The caller gets the error. */
  broke?(tx: Tx, error: unknown): Promise<void>
}

/** The context of one call of a verb: its caller, request id and route. */
export type Call<C extends Caller = TenantCaller> = {
  readonly caller: C
  readonly requestId: string
  /** Method and pattern, such as `POST /completions`. Never contains the values in the path. */
  readonly route: string
  /** Aborts when the client disconnects or the server stops. */
  readonly signal: AbortSignal
  /** Number of events that led to this call, each triggered by the one before. Absent for a person's request. */
  readonly depth?: number | undefined
  /** Set only when the request carries an Idempotency-Key and the route accepts one. */
  readonly once?: Once | undefined
  /** Set for a line of a batch, which yields to interactive requests. */
  readonly batch?: true
}

const works = new AsyncLocalStorage<Map<object, unknown>>()

/**
 * Runs one piece of work, such as a request or a job run, including its stream. Values read with {@link sameInWork}
 * stay the same from their first read until the end of the work.
 */
export const asOneWork = <Args extends unknown[], T>(work: (...args: Args) => T, ...args: Args): T =>
  works.run(new Map(), work, ...args)

/** The first result of `read` for `key` in this piece of work. Outside of any, calls `read` each time. */
export function sameInWork<T>(key: object, read: () => T): T {
  const known = works.getStore()
  if (!known) return read()
  const found = known.get(key)
  if (found !== undefined) return found as T
  const first = read()
  known.set(key, first)
  return first
}
