import { type Call, ownerOf, SCOPES, type TenantCaller } from '../kernel/caller'
import { sha256Hex } from '../kernel/crypto'
import type { Tx } from '../kernel/store'
import { badKey } from './errors'

/** How long a key and its answer are kept (contract 1.7). */
export const RETENTION_MS = 24 * 60 * 60_000

const KEY = /^[A-Za-z0-9\-_.:]{1,256}$/

/** Throws 400 `validation_error` for an invalid key. A header sent twice arrives joined by a comma and is invalid too. */
export function assertKey(key: string): void {
  if (!KEY.test(key)) throw badKey(key)
}

/**
 * Hash that identifies a request: method, path and body, for the same owner and the same scopes. Scopes count
 * because a stored answer may hold a secret, which must not be replayed to a weaker key of the user or the team.
 */
export function fingerprintOf(caller: TenantCaller, method: string, path: string, body: Uint8Array): string {
  const scopes = caller.type === 'key' ? SCOPES.filter((scope) => caller.scopes.includes(scope)) : SCOPES
  return sha256Hex(`${ownerOf(caller)} ${scopes} ${method} ${path} ${sha256Hex(body)}`)
}

/** The response body as it is sent; objects get the request id (contract 1.4). */
export function responseBody(answer: unknown, requestId: string): string {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return JSON.stringify(answer)
  const { request_id = requestId } = answer as { request_id?: string }
  return JSON.stringify({ ...answer, request_id })
}

/**
 * Call at the end of a transaction: stores the answer with its effect when the request has an Idempotency-Key, and
 * returns it. `answer` is the route's whole body without `request_id`; pass `status` where the route has several
 * success statuses.
 */
export async function storeAnswer<T>(tx: Tx, { once }: Pick<Call, 'once'>, answer: T, status?: number): Promise<T> {
  if (once) await once.keep(tx, answer, status)
  return answer
}
